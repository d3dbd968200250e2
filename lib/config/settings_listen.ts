/**
 * `listen` as written → listeners, and what is wrong with them.
 *
 * @module
 */
import type { ListenSettings } from "../model/settings.ts";
import type { Environment } from "./expand.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import {
  addressOf,
  addressPath,
  checkAddress,
  checkTlsFiles,
  isOffLoopback,
  normaliseTlsFiles,
  warning,
} from "./settings_checks.ts";

/** An item of `listen` as written. */
export type ListenInput = NonNullable<SettingsInput["listen"]>[number];

/** A listener. */
export function normaliseListener(input: ListenInput): ListenSettings {
  if (typeof input === "string") return { address: input, allow: [], insecure: false };
  const { address, tls, allow, insecure } = input;
  return {
    address,
    ...(tls === undefined ? {} : { tls: normaliseTlsFiles(tls) }),
    allow: allow ?? [],
    insecure: insecure ?? false,
  };
}

/** What is wrong with the listeners. */
export function checkListen(items: readonly ListenInput[], environment: Environment): Problem[] {
  const problems: Problem[] = [];
  const addresses = new Set<string>();
  items.forEach((item, index) => {
    const path = addressPath(item, ["listen", index]);
    const address = addressOf(item);
    problems.push(...checkAddress(address, path, environment, { anyPort: true }));
    if (addresses.has(address) && !address.endsWith(":0")) {
      problems.push(problem("config/duplicate", path, `${address} is listened on twice`));
    }
    addresses.add(address);
    problems.push(...checkSecurity(item, ["listen", index], environment));
  });
  return problems;
}

function checkSecurity(item: ListenInput, path: Path, environment: Environment): Problem[] {
  const { address, tls, allow, insecure }: Exclude<ListenInput, string> = typeof item === "string"
    ? { address: item }
    : item;
  const at = addressPath(item, path);
  const allowed = checkAllow(tls, allow, [...path, "allow"]);
  if (tls === undefined) {
    return [...allowed, ...checkPlaintext({ address, insecure }, at, environment)];
  }
  const files = checkTlsFiles(tls, [...path, "tls"], environment);
  if (insecure !== true) return [...files, ...allowed];
  const message = "`insecure` has no effect beside `tls`: there is no plaintext on this address";
  return [...files, ...allowed, warning("config/security", [...path, "insecure"], message)];
}

type Tls = Exclude<ListenInput, string>["tls"];

/** Only certificates that a CA vouches for say who somebody is. */
function checkAllow(tls: Tls, allow: readonly string[] | undefined, path: Path): Problem[] {
  if (allow === undefined) return [];
  if (tls === undefined) {
    const message = "`allow` is about client certificates, but there is no `tls` here";
    return [problem("config/security", path, message, "give `tls`, or take `allow` out")];
  }
  if (typeof tls === "string" || tls.ca !== undefined) return [];
  const message =
    "`allow` is about client certificates, but `tls` has no `ca` that vouches for them";
  return [problem("config/security", path, message, "give `ca`, or take `allow` out")];
}

/** Plaintext that leaves this machine has to be meant. */
export function checkPlaintext(
  { address, insecure }: { readonly address: string; readonly insecure?: boolean | undefined },
  path: Path,
  environment: Environment,
): Problem[] {
  if (insecure === true || !isOffLoopback(address, environment)) return [];
  const message =
    `${address} is not loopback, and plaintext there can be read and changed on its way`;
  const hint = `give \`tls\`, or, where plaintext is meant, write { address: "${address}", ` +
    "insecure: true }";
  return [problem("config/security", path, message, hint)];
}
