/**
 * Talks to a running Pinnace over its admin listener.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { expand } from "../config/expand.ts";
import { readConfig } from "./read_config.ts";
import { defaultStore } from "./store_place.ts";

/** Which Pinnace is meant. */
export interface AdminOptions {
  readonly config: string;
  readonly store?: string;
  /** `host:port`; absent: as the configuration says. */
  readonly admin?: string;
}

/** The running Pinnace cannot be asked, or says no. The message is for the person who asked. */
export class AdminError extends Error {
  override readonly name = "AdminError";
}

/** How long an answer may take. Milliseconds. */
const DEADLINE = 10_000;

/** Asks the admin listener for JSON. Throws {@link AdminError}. */
export async function askAdmin(
  options: AdminOptions,
  path: string,
  method: "GET" | "POST" = "GET",
): Promise<unknown> {
  const address = options.admin ?? configuredAdmin(options.config);
  const token = await readToken(options);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let response: Response;
  let body: { error?: string } | undefined;
  try {
    const signal = AbortSignal.timeout(DEADLINE);
    response = await fetch(`http://${address}${path}`, { method, headers, signal });
    body = await response.json();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AdminError(`no Pinnace answers on ${address}: ${why}`, { cause });
  }
  if (!response.ok) throw new AdminError(body?.error ?? `${address} answers ${response.status}`);
  return body;
}

function configuredAdmin(config: string): string {
  const { result } = readConfig(config);
  const admin = result.settings?.admin;
  if (admin === undefined) {
    throw new AdminError("the configuration names no admin listener; say --admin host:port");
  }
  const expansion = expand(admin);
  if (!expansion.ok) throw new AdminError(`${expansion.message}; ${expansion.hint}`);
  return expansion.text;
}

/** The token is only readable to the user that runs Pinnace; reads on loopback need none. */
async function readToken({ config, store }: AdminOptions): Promise<string | undefined> {
  const folder = resolve(store ?? defaultStore(resolve(config)));
  try {
    return (await Deno.readTextFile(join(folder, "admin.token"))).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
