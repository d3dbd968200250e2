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

/** The token, or why there is none. A reason is said to whoever would need the token. */
export type AdminToken =
  | { readonly kind: "token"; readonly text: string }
  | { readonly kind: "none"; readonly reason: string };

/** Bytes of randomness in a token that is made here. */
const STRENGTH = 32;

/** A token shorter than this is taken for a file that was cut off. Characters. */
const SHORTEST = 32;

/** More than any token. Bytes. */
const LONGEST = 4096;

/** The admin token of this folder, made if there is none yet. What stands in the way is the reason why there is none. */
export async function loadToken(folder: string): Promise<AdminToken> {
  const path = join(folder, TOKEN_FILE);
  try {
    const text = await readToken(path) ?? await makeToken(path);
    return { kind: "token", text };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "none", reason: `${path} can be neither read nor made: ${why}` };
  }
}

async function readToken(path: string): Promise<string | undefined> {
  try {
    const { size, isFile } = await Deno.stat(path);
    if (!isFile || size > LONGEST) throw new Error("it is no token");
    const token = (await Deno.readTextFile(path)).trim();
    return token.length < SHORTEST ? undefined : token;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Written beside and renamed: never half a token, and never for a moment readable to others. */
async function makeToken(path: string): Promise<string> {
  const token = crypto.getRandomValues(new Uint8Array(STRENGTH)).toHex();
  const beside = `${path}.new`;
  await Deno.remove(beside).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.writeTextFile(beside, `${token}\n`, { createNew: true, mode: 0o600 });
  await Deno.rename(beside, path);
  return token;
}

/** Whether an `Authorization` header bears this token. Takes equally long for every wrong one. */
export function bears(header: string | undefined, token: string): boolean {
  const given = encoder.encode(/^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "");
  const wanted = encoder.encode(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const encoder = new TextEncoder();
