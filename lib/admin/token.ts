/**
 * The token that actions, and everything off loopback, need. It is in the store, readable to the user
 * that runs Pinnace; whoever can read the store may do what Pinnace does.
 *
 * @module
 */
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";

/** Name of the file in the store. */
export const TOKEN_FILE = "admin.token";

/** Bytes of randomness in a token. */
const STRENGTH = 32;

/** The token in this folder, made if there is none. Throws the file system's error where that cannot be done. */
export async function loadToken(folder: string): Promise<string> {
  const path = join(folder, TOKEN_FILE);
  try {
    const token = (await Deno.readTextFile(path)).trim();
    if (token.length >= STRENGTH) return token;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const token = crypto.getRandomValues(new Uint8Array(STRENGTH)).toHex();
  await Deno.writeTextFile(path, `${token}\n`, { mode: 0o600 });
  await Deno.chmod(path, 0o600); // of a file that was there the mode is not changed by writing
  return token;
}

/** Whether an `Authorization` header bears this token. Takes equally long for every wrong one. */
export function bears(header: string | undefined, token: string): boolean {
  const given = encoder.encode(/^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "");
  const wanted = encoder.encode(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const encoder = new TextEncoder();
