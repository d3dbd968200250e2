/**
 * `receive` as written → its settings, and what is wrong with them.
 *
 * @module
 */
import type { ReceiveSettings, Settings, SourceRule } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Environment } from "./expand.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import {
  addressPath,
  checkAddress,
  checkPath,
  checkTlsFiles,
  isOffLoopback,
  normaliseTlsFiles,
  warning,
} from "./settings_checks.ts";
import { checkPlaintext } from "./settings_listen.ts";
import { parseDuration } from "./units.ts";

/** `receive` as written. */
export type ReceiveInput = NonNullable<SettingsInput["receive"]>;

type LongReceive = Exclude<ReceiveInput, string>;

const longForm = (input: ReceiveInput): LongReceive =>
  typeof input === "string" ? { address: input } : input;

/** What being a ResourceSink is set to. */
export function normaliseReceive(input: ReceiveInput): ReceiveSettings {
  const { address, tls, insecure, from, tokens, merge, keep, collections } = longForm(input);
  return {
    address,
    ...(tls === undefined ? {} : { tls: normaliseTlsFiles(tls) }),
    insecure: insecure ?? false,
    from: from?.map(normaliseSource) ?? [],
    tokens: tokens ?? {},
    merge: merge ?? DEFAULTS.merge,
    ...(keep === undefined ? {} : { keep: parseDuration(keep)! }),
    collections: collections ?? [],
  };
}

function normaliseSource(input: NonNullable<LongReceive["from"]>[number]): SourceRule {
  if (typeof input === "string") return { source: input, namespaces: [] };
  return { source: input.source, namespaces: input.namespaces ?? [] };
}

/** What is wrong with `receive`. */
export function checkReceive(input: ReceiveInput, environment: Environment): Problem[] {
  const path = ["receive"];
  const long = longForm(input);
  const at = addressPath(input, path);
  return [
    ...checkAddress(long.address, at, environment, { anyPort: true }),
    ...(long.tls === undefined
      ? checkPlaintext(long, at, environment)
      : checkTlsFiles(long.tls, [...path, "tls"], environment)),
    ...checkIdentity(long, path),
    ...checkFrom(long.from ?? [], [...path, "from"]),
    ...checkTokens(long, [...path, "tokens"], environment),
  ];
}

/** Whether something else listens where sources are to dial in. */
export function checkReceivePlace({ receive, listen, admin }: Settings): Problem[] {
  if (receive === undefined || receive.address.endsWith(":0")) return [];
  const { address } = receive;
  const other = listen.some((listener) => listener.address === address)
    ? "listen"
    : admin === address
    ? "admin"
    : undefined;
  if (other === undefined) return [];
  const message = `${address} is the address of \`${other}\` as well`;
  return [problem("config/duplicate", ["receive"], message, "give one of them another port")];
}

/** TLS alone keeps others from listening in, but lets anybody in. */
function checkIdentity({ tls, tokens, insecure }: LongReceive, path: Path): Problem[] {
  if (tls === undefined || typeof tls === "string" || tls.ca !== undefined) return [];
  if (insecure === true || Object.keys(tokens ?? {}).length > 0) return [];
  const message = "`tls` has no `ca` and there are no `tokens`, so no source can prove who it is";
  const hint = "give `ca` or `tokens`, or, where anybody may fill in anything, `insecure: true`";
  return [problem("config/security", [...path, "tls"], message, hint)];
}

function checkFrom(from: NonNullable<LongReceive["from"]>, path: Path): Problem[] {
  const firsts = new Map<string, number>();
  let everything: number | undefined;
  return from.flatMap((item, index) => {
    const { source } = normaliseSource(item);
    const first = everything ?? firsts.get(source);
    if (first === undefined) {
      firsts.set(source, index);
      if (/^\*+$/.test(source)) everything = index;
      return [];
    }
    const whom = everything === undefined ? "the same sources" : "every source";
    const message = `item ${index + 1} of \`from\` never counts: item ${first + 1} matches ` +
      `${whom}, and the first counts`;
    return [warning("config/never", [...path, index], message, "move it up, or take it out")];
  });
}

function checkTokens(
  { address, tls, tokens = {} }: LongReceive,
  path: Path,
  environment: Environment,
): Problem[] {
  const problems: Problem[] = [];
  const owners = new Map<string, string>();
  for (const [name, file] of Object.entries(tokens)) {
    problems.push(...checkPath(file, [...path, name], environment));
    const owner = owners.get(file);
    if (owner !== undefined) {
      const message = `${owner} and ${name} have the same file, so they cannot be told apart`;
      const hint = "give each source a token of its own";
      problems.push(problem("config/duplicate", [...path, name], message, hint));
    }
    owners.set(file, name);
  }
  if (owners.size > 0 && tls === undefined && isOffLoopback(address, environment)) {
    const message = `tokens come to ${address} in plaintext: whoever is on their way can take them`;
    problems.push(warning("config/security", path, message, "give `tls`"));
  }
  return problems;
}
