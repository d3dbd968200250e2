/**
 * How someone is dialled, as configured → with nothing left to expand.
 *
 * @module
 */
import type { ClientTlsSettings, DialSettings } from "../model/settings.ts";
import { expand, processEnvironment, withoutSecret } from "./expand.ts";
import { expandAddress } from "./expand_address.ts";
import {
  expandFile,
  type ExpandOptions,
  expandTlsFiles,
  type Unexpandable,
} from "./expand_files.ts";
import { expandProxy, type Proxy } from "./proxy.ts";

/** How someone is dialled: variables filled in, paths absolute, addresses taken apart. */
export interface ExpandedDial {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Absent: plaintext. */
  readonly tls?: ClientTlsSettings;
  readonly tokenFile?: string;
  readonly proxy?: Proxy;
  readonly headers: Readonly<Record<string, string>>;
}

/** Expands how a sink or a server to pull from is dialled. What is wrong never holds a variable's value, nor the proxy. */
export function expandDial(
  settings: DialSettings,
  options: ExpandOptions,
): { readonly ok: true; readonly dial: ExpandedDial } | Unexpandable {
  const { environment = processEnvironment } = options;
  const at = expandAddress(settings.address, environment);
  if (!at.ok) return at;
  const tls = settings.tls === undefined ? undefined : expandTls(settings.tls, options);
  if (tls?.ok === false) return tls;
  const { tokenFile } = settings;
  const token = tokenFile === undefined ? undefined : expandFile(tokenFile, options);
  if (token?.ok === false) return token;
  const { proxy } = settings;
  const through = proxy === undefined ? undefined : expandProxy(proxy, environment);
  if (through?.ok === false) return through;
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(settings.headers)) {
    const expansion = expand(value, environment);
    if (!expansion.ok) return withoutSecret(expansion, `the header ${name}`);
    headers.push([name, expansion.text]);
  }
  const dial = {
    host: at.host,
    port: at.port,
    ...(tls === undefined ? {} : { tls: tls.tls }),
    ...(token === undefined ? {} : { tokenFile: token.path }),
    ...(through === undefined ? {} : { proxy: through.proxy }),
    headers: Object.fromEntries(headers),
  };
  return { ok: true, dial };
}

function expandTls(
  { files, serverName }: ClientTlsSettings,
  options: ExpandOptions,
): { readonly ok: true; readonly tls: ClientTlsSettings } | Unexpandable {
  const expanded = expandTlsFiles(files, options);
  if (!expanded.ok) return expanded;
  const name = serverName === undefined ? {} : { serverName };
  return { ok: true, tls: { files: expanded.files, ...name } };
}
