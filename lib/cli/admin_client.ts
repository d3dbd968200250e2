/**
 * Talks to a running Pinnace over its admin listener.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { parseHostPort } from "../config/address.ts";
import { expand } from "../config/expand.ts";
import { explain } from "../log.ts";
import { describeFindings, readConfig } from "./read_config.ts";
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
  if (parseHostPort(address) === undefined) throw new AdminError(`${address} is not host:port`);
  const found = await readToken(options);
  const headers = "token" in found ? { authorization: `Bearer ${found.token}` } : {};
  let response: Response;
  let body: { error?: string } | undefined;
  try {
    const signal = AbortSignal.timeout(DEADLINE);
    response = await fetch(`http://${address}${path}`, { method, headers, signal });
    body = await response.json();
  } catch (cause) {
    throw new AdminError(`no Pinnace answers on ${address}: ${explain(cause)}`, { cause });
  }
  if (!response.ok) {
    const why = response.status === 401 && "missing" in found ? ` (${found.missing})` : "";
    throw new AdminError((body?.error ?? `${address} answers ${response.status}`) + why);
  }
  return body;
}

function configuredAdmin(config: string): string {
  const { result, findings } = readConfig(config);
  if (result.settings === undefined) {
    const why = describeFindings(findings).trimEnd();
    throw new AdminError(`say --admin host:port, since the configuration cannot be read:\n${why}`);
  }
  const { admin } = result.settings;
  if (admin === undefined) {
    throw new AdminError("the configuration names no admin listener; say --admin host:port");
  }
  const expansion = expand(admin);
  if (!expansion.ok) throw new AdminError(`${expansion.message}; ${expansion.hint}`);
  return expansion.text;
}

/** The token, or why there is none: only the user that runs Pinnace may read it, and reads on loopback need none. */
async function readToken(
  { config, store }: AdminOptions,
): Promise<{ readonly token: string } | { readonly missing: string }> {
  const file = join(resolve(store ?? defaultStore(resolve(config))), "admin.token");
  try {
    return { token: (await Deno.readTextFile(file)).trim() };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { missing: `${file} is not there` };
    return { missing: `${file} cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}
