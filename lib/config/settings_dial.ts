/**
 * Whom we dial, as written → `sinks` and what is pulled from, and what is wrong with them.
 *
 * @module
 */
import { INSTANCE_HEADER } from "../model/instance_header.ts";
import { isLoopback } from "../model/loopback.ts";
import type { ClientTlsSettings, DialSettings, SinkSettings } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import { type Environment, expand, withoutSecret } from "./expand.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import { checkLiteralHeader, checkLiteralPassword, looksSecret } from "./literal_secrets.ts";
import { ownHeader } from "./own_headers.ts";
import { expandProxy } from "./proxy.ts";
import type { SettingsInput } from "./schema.ts";
import {
  addressPath,
  checkAddress,
  checkPath,
  checkTlsFiles,
  checkWave,
  isOffLoopback,
  normaliseTlsFiles,
  warning,
} from "./settings_checks.ts";
import { parseDuration } from "./units.ts";

/** An item of `sinks` as written. */
export type SinkInput = NonNullable<SettingsInput["sinks"]>[number];

type LongSink = Exclude<SinkInput, string>;
type DialInput = Pick<LongSink, "tls" | "tokenFile" | "proxy" | "headers">;
type ClientTlsInput = NonNullable<DialInput["tls"]>;

/** A sink. */
export function normaliseSink(input: SinkInput): SinkSettings {
  const long: LongSink = typeof input === "string" ? { address: input } : input;
  const { name, address, heartbeat, collections, wave } = long;
  return {
    name: name ?? address,
    ...normaliseDial(address, long),
    heartbeat: parseDuration(heartbeat ?? DEFAULTS.heartbeat)!,
    collections: collections ?? [],
    wave: wave ?? DEFAULTS.wave,
  };
}

/** How someone that we dial is reached. */
export function normaliseDial(address: string, input: DialInput): DialSettings {
  const { tls, tokenFile, proxy, headers } = input;
  return {
    address,
    ...(tls === undefined ? {} : { tls: normaliseClientTls(tls) }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(proxy === undefined ? {} : { proxy }),
    headers: headers ?? {},
  };
}

function normaliseClientTls(input: ClientTlsInput): ClientTlsSettings {
  if (input === true) return { files: { kind: "files" } };
  if (typeof input === "string") return { files: normaliseTlsFiles(input) };
  const { folder, serverName, ...files } = input;
  return {
    files: normaliseTlsFiles(folder ?? files),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** What is wrong with the sinks. */
export function checkSinks(sinks: readonly SinkInput[], environment: Environment): Problem[] {
  const problems: Problem[] = [];
  const names = new Map<string, number>();
  const addresses = new Map<string, number>();
  sinks.forEach((input, index) => {
    const sink = normaliseSink(input);
    const path = ["sinks", index];
    const at = addressPath(input, path);
    problems.push(...checkAddress(sink.address, at, environment, { anyPort: false }));
    if (typeof input !== "string") {
      const who = { name: sink.name, address: sink.address };
      problems.push(...checkDial(input, who, path, environment));
      problems.push(...checkWave(input.wave, [...path, "wave"]));
    }
    const namesake = names.get(sink.name);
    const neighbour = addresses.get(sink.address);
    if (namesake !== undefined) {
      const message = `two sinks are named ${sink.name}, items ${namesake + 1} and ${index + 1}`;
      problems.push(problem("config/duplicate", path, message, "give one of them another `name`"));
    } else if (neighbour !== undefined) {
      const message = `the sinks ${neighbour + 1} and ${index + 1} have the same address`;
      problems.push(warning("config/duplicate", path, message));
    }
    names.set(sink.name, index);
    addresses.set(sink.address, index);
  });
  return problems;
}

/** Someone that we dial: how messages name it, and where it is. */
export interface Dialled {
  readonly name: string;
  readonly address: string;
}

/** What is wrong with how someone is dialled, apart from the address. */
export function checkDial(
  input: DialInput,
  dialled: Dialled,
  path: Path,
  environment: Environment,
): Problem[] {
  const { tls, tokenFile, proxy, headers = {} } = input;
  return [
    ...(tls === undefined ? [] : checkClientTls(tls, [...path, "tls"], environment)),
    ...(tokenFile === undefined ? [] : checkPath(tokenFile, [...path, "tokenFile"], environment)),
    ...(proxy === undefined ? [] : checkProxy(proxy, [...path, "proxy"], environment)),
    ...checkHeaders(headers, [...path, "headers"], environment),
    ...checkToken(input, dialled, path, environment),
    ...checkPlainSecrets(input, dialled, path, environment),
  ];
}

function checkClientTls(tls: ClientTlsInput, path: Path, environment: Environment): Problem[] {
  if (tls === true) return [];
  if (typeof tls === "string") return checkTlsFiles(tls, path, environment);
  const { folder, serverName: _, ...files } = tls;
  const problems = checkTlsFiles(files, path, environment);
  const written = (["ca", "cert", "key"] as const).filter((key) => files[key] !== undefined);
  if (folder !== undefined) {
    problems.push(...checkPath(folder, [...path, "folder"], environment));
    if (written.length > 0) {
      const message = `\`${written[0]}\` stands beside \`folder\`, which holds it already`;
      const hint = "give the folder, or the files one by one";
      problems.push(problem("config/value", [...path, written[0]!], message, hint));
    }
  } else if (written.includes("cert") !== written.includes("key")) {
    const [there, missing] = written.includes("cert") ? ["cert", "key"] : ["key", "cert"];
    const message = `\`${there}\` stands without \`${missing}\``;
    const hint = `give \`${missing}\` as well, or neither to show no certificate`;
    problems.push(problem("config/value", [...path, there], message, hint));
  }
  return problems;
}

/** No message repeats any of the proxy: it may hold a password. */
function checkProxy(proxy: string, path: Path, environment: Environment): Problem[] {
  const expanded = expandProxy(proxy, environment);
  if (expanded.ok) return checkLiteralPassword(proxy, path);
  const rule = expanded.unset === undefined ? "config/value" : "config/environment";
  return [problem(rule, path, expanded.message, expanded.hint)];
}

const OWN_HEADERS = "names that begin with x-pinnace- are for Pinnace to send";

function checkHeaders(
  headers: Readonly<Record<string, string>>,
  path: Path,
  environment: Environment,
): Problem[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const at = [...path, name];
    const message = `the header ${name} cannot be set`;
    const reserved = ownHeader(name);
    if (reserved !== undefined) return [problem("config/value", at, message, reserved)];
    if (name === INSTANCE_HEADER) {
      return [problem("config/value", at, message, "it is sent with `instance`; set that")];
    }
    if (name.startsWith("x-pinnace-")) return [problem("config/value", at, message, OWN_HEADERS)];
    const expansion = expand(value, environment);
    if (!expansion.ok) {
      const said = withoutSecret(expansion, `the header ${name}`);
      return [problem("config/environment", at, said.message, said.hint)];
    }
    if (/^[\x20-\x7e]*$/.test(expansion.text)) return checkLiteralHeader(name, value, at);
    // The value may be a secret: it is not repeated.
    return [problem("config/value", at, `the header ${name} holds more than printable ASCII`)];
  });
}

/** A token is sent once, and not for all to read. */
function checkToken(
  input: DialInput,
  { name, address }: Dialled,
  path: Path,
  environment: Environment,
): Problem[] {
  const { tokenFile, proxy, headers = {} } = input;
  const header = Object.hasOwn(headers, "authorization")
    ? [...path, "headers", "authorization"]
    : undefined;
  const at = tokenFile === undefined ? header : [...path, "tokenFile"];
  if (at === undefined) return [];
  const problems: Problem[] = [];
  if (tokenFile !== undefined && header !== undefined) {
    const message = "`tokenFile` is sent as the header authorization, which is among `headers` too";
    problems.push(problem("config/duplicate", header, message, "keep one of them"));
  }
  if (leavesInPlaintext(input, address, environment)) {
    problems.push(plainSecret(`the token for ${name}`, proxy, at));
  }
  return problems;
}

/** Secrets besides the token. That a proxy has its password in plaintext is how CONNECT proxies are. */
function checkPlainSecrets(
  input: DialInput,
  { name, address }: Dialled,
  path: Path,
  environment: Environment,
): Problem[] {
  const { proxy, headers = {} } = input;
  const problems: Problem[] = [];
  if (leavesInPlaintext(input, address, environment)) {
    const secrets = Object.keys(headers).filter((one) =>
      one !== "authorization" && looksSecret(one)
    );
    for (const one of secrets) {
      const what = `the header ${one} for ${name}, which looks like a secret,`;
      problems.push(plainSecret(what, proxy, [...path, "headers", one]));
    }
  }
  return problems;
}

function plainSecret(what: string, proxy: string | undefined, path: Path): Problem {
  const way = proxy === undefined ? "" : ", through the proxy as well";
  const message = `${what} travels in plaintext${way}: whoever is on its way can take it`;
  return warning("config/security", path, message, "give `tls`");
}

function leavesInPlaintext(
  { tls, proxy }: DialInput,
  address: string,
  environment: Environment,
): boolean {
  if (tls !== undefined) return false;
  return isOffLoopback(address, environment) || isProxyElsewhere(proxy, environment);
}

function isProxyElsewhere(proxy: string | undefined, environment: Environment): boolean {
  if (proxy === undefined) return false;
  const expanded = expandProxy(proxy, environment);
  return expanded.ok && !isLoopback(expanded.proxy.host);
}
