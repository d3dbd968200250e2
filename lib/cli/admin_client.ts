/**
 * Talks to a running Pinnace over its admin listener.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { TOKEN_FILE } from "../admin/token.ts";
import { parseHostPort } from "../config/address.ts";
import { expand } from "../config/expand.ts";
import { explain } from "../log.ts";
import { describeFindings, readConfig } from "./read_config.ts";
import { defaultStore } from "./store_place.ts";

/** Which Pinnace is meant. */
export interface AdminOptions {
  /** May be left out where `admin` is there. */
  readonly config?: string;
  readonly store?: string;
  /** `host:port`; absent: as the configuration says. */
  readonly admin?: string;
  /** Where the admin token is; absent: in the store. */
  readonly tokenFile?: string;
}

/** The running Pinnace cannot be asked, or says no. The message is for the person who asked. */
export class AdminError extends Error {
  override readonly name = "AdminError";
}

/** How long an answer may take. Milliseconds. */
const DEADLINE = 10_000;

/** How something is asked. */
export interface AskOptions {
  readonly method?: "GET" | "POST";
  /** Ends the waiting; that there is no answer is an error all the same. */
  readonly signal?: AbortSignal;
}

/** Asks the admin listener for JSON. Throws {@link AdminError}. */
export async function askAdmin(
  options: AdminOptions,
  path: string,
  { method = "GET", signal: ended }: AskOptions = {},
): Promise<unknown> {
  const address = options.admin ?? configuredAdmin(options.config);
  if (parseHostPort(address) === undefined) throw new AdminError(`${address} is not host:port`);
  const found = await readToken(options);
  const headers = "token" in found ? { authorization: `Bearer ${found.token}` } : {};
  let response: Response;
  let body: { error?: string } | undefined;
  try {
    const late = AbortSignal.timeout(DEADLINE);
    const signal = ended === undefined ? late : AbortSignal.any([late, ended]);
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

function configuredAdmin(config: string | undefined): string {
  if (config === undefined) throw new AdminError("say --admin host:port, or --config");
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
  options: AdminOptions,
): Promise<{ readonly token: string } | { readonly missing: string }> {
  const file = tokenFileOf(options);
  if (file === undefined) return { missing: "say --store or --token-file" };
  try {
    return { token: (await Deno.readTextFile(file)).trim() };
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound
      ? "is not there"
      : `cannot be read: ${error instanceof Error ? error.message : error}`;
    if (options.tokenFile !== undefined) throw new AdminError(`${file} ${why}`, { cause: error });
    return { missing: `${file} ${why}` };
  }
}

function tokenFileOf({ tokenFile, config, store }: AdminOptions): string | undefined {
  if (tokenFile !== undefined) return resolve(tokenFile);
  if (store !== undefined) return join(resolve(store), TOKEN_FILE);
  return config === undefined ? undefined : join(defaultStore(resolve(config)), TOKEN_FILE);
}
