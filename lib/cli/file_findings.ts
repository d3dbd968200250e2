/**
 * What is wrong with the files that a configuration names besides its own: certificates, keys, tokens.
 * They are read as a running Pinnace reads them.
 *
 * @module
 */
import { parseHostPort } from "../config/address.ts";
import { expandFile, expandTlsFiles } from "../config/expand_files.ts";
import type { WrittenSettings } from "../config/load.ts";
import { includedServers } from "../config/settings_include.ts";
import { normaliseListener } from "../config/settings_listen.ts";
import { normaliseReceive } from "../config/settings_receive.ts";
import { normaliseSink } from "../config/settings_dial.ts";
import type { Finding } from "../model/finding.ts";
import type { DialSettings, ReceiveSettings, TlsFiles } from "../model/settings.ts";
import { readClientTls } from "../transport/client_tls.ts";
import { TlsFilesError } from "../transport/tls_files.ts";
import { TlsServer, type TlsServerOptions } from "../transport/tls_server.ts";
import { readToken, TokenFileError } from "../transport/token_file.ts";
import { portOf } from "./receiver_door.ts";
import { SourceTokens } from "./source_tokens.ts";

type Path = NonNullable<Finding["path"]>;

/** Something wrong with files, and the setting that names them. */
interface Fault {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

/** How long files of one setting may take to be read. Milliseconds. */
const PATIENCE = 10_000;

/**
 * What is wrong with the files that these settings name, as warnings: they may be right by the time
 * that Pinnace runs. `folder`, absolute, is where relative paths start.
 */
export async function fileFindings(
  written: readonly WrittenSettings[],
  folder: string,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { file, settings } of written) {
    for (const fault of await faultsOf(settings, folder)) {
      findings.push({ severity: "warning", rule: "config/files", position: { file }, ...fault });
    }
  }
  return findings;
}

async function faultsOf(
  { listen = [], sinks = [], include = [], receive }: WrittenSettings["settings"],
  folder: string,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [index, item] of listen.entries()) {
    const { tls, allow } = normaliseListener(item);
    faults.push(...await serverFaults(tls, { allow }, ["listen", index, "tls"], folder));
  }
  const dialled = [
    ...sinks.map((item, index) => [["sinks", index], normaliseSink(item)] as const),
    ...include.flatMap((item, index) =>
      includedServers([item]).map((one) => [["include", index], one] as const)
    ),
  ];
  for (const [path, dial] of dialled) faults.push(...await dialFaults(dial, path, folder));
  if (receive === undefined) return faults;
  return [...faults, ...await receiveFaults(normaliseReceive(receive), folder)];
}

/** What a port would wait for, or warn of. */
async function serverFaults(
  tls: TlsFiles | undefined,
  options: Pick<TlsServerOptions, "allow" | "certificate">,
  path: Path,
  folder: string,
): Promise<Fault[]> {
  const files = tls && filesOf(tls, folder);
  if (files === undefined) return [];
  try {
    await using server = await TlsServer.open({ files, ...options });
    const { problem } = server.status();
    return problem === undefined ? [] : [{ path, message: problem.message, hint: problem.hint }];
  } catch (error) {
    return [{ path, ...faultOf(error) }];
  }
}

/** Paths that cannot be expanded are said by whoever reads the settings. */
function filesOf(tls: TlsFiles, folder: string): TlsFiles | undefined {
  const expanded = expandTlsFiles(tls, { folder });
  return expanded.ok ? expanded.files : undefined;
}

/** Why an attempt to dial would fail before it begins. */
async function dialFaults(
  { address, tls, tokenFile }: DialSettings,
  path: Path,
  folder: string,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const files = tls && filesOf(tls.files, folder);
  if (files !== undefined) {
    const { host = "" } = parseHostPort(address) ?? {};
    try {
      await readClientTls({ ...tls, files }, host, AbortSignal.timeout(PATIENCE));
    } catch (error) {
      faults.push({ path: [...path, "tls"], ...faultOf(error) });
    }
  }
  const token = tokenFile === undefined ? undefined : expandFile(tokenFile, { folder });
  if (token?.ok) {
    try {
      await readToken(token.path);
    } catch (error) {
      faults.push({ path: [...path, "tokenFile"], ...faultOf(error) });
    }
  }
  return faults;
}

async function receiveFaults(receive: ReceiveSettings, folder: string): Promise<Fault[]> {
  const { certificate } = portOf(receive);
  const faults = await serverFaults(receive.tls, { certificate }, ["receive", "tls"], folder);
  const paths = Object.entries(receive.tokens).flatMap(([source, file]) => {
    const expanded = expandFile(file, { folder });
    return expanded.ok ? [[source, expanded.path] as const] : [];
  });
  await using _ = await SourceTokens.open(new Map(paths), (source, message) => {
    if (message !== undefined) faults.push({ path: ["receive", "tokens", source], message });
  });
  return faults;
}

/** What the error says; one that is none of the files' own is a mistake of ours. */
function faultOf(error: unknown): Omit<Fault, "path"> {
  if (error instanceof TlsFilesError) return { message: error.message, hint: error.hint };
  if (error instanceof TokenFileError) return { message: error.message };
  if (error instanceof DOMException) return { message: "its files take too long to be read" };
  throw error;
}
