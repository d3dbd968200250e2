/**
 * Secrets that stand in the configuration as they are. Settings are kept with each snapshot, so such a
 * secret is then in the store as well, and in every copy of the files.
 *
 * @module
 */
import { type Path, type Problem } from "./problem.ts";
import { warning } from "./settings_checks.ts";

const SECRET = /^(proxy-)?authorization$|cookie|token|secret|passw|credential|key/i;

/** Whether the header of this name holds a secret, to all appearances. */
export function looksSecret(name: string): boolean {
  return SECRET.test(name);
}

/** Warns where the URL of a proxy holds a password as it is. The message repeats none of it. */
export function checkLiteralPassword(proxy: string, path: Path): Problem[] {
  const credentials = /^[^/]*:\/\/(.*)@/s.exec(proxy)?.[1] ?? "";
  const [, password = ""] = /:(.*)/s.exec(credentials) ?? [];
  if (!isLiteral(password)) return [];
  const hint = "write http://user:${NAME}@host:port, with the password in the variable NAME";
  return [warning("config/security", path, kept("`proxy` holds its password"), hint)];
}

/** Warns where a header that holds a secret holds it as it is. The message does not repeat it. */
export function checkLiteralHeader(name: string, value: string, path: Path): Problem[] {
  if (!looksSecret(name) || !isLiteral(value)) return [];
  const file = name.toLowerCase() === "authorization" ? ", or `tokenFile` for a bearer token" : "";
  const hint = `write \${NAME}, with the secret in the variable NAME${file}`;
  return [warning("config/security", path, kept(`the header ${name} holds its secret`), hint)];
}

function kept(what: string): string {
  return `${what} as it is written, and so do the stored snapshots`;
}

/** Whether there is a text, and none of it comes from a variable. */
function isLiteral(text: string): boolean {
  return text !== "" && !text.replaceAll("$$", "").includes("${");
}
