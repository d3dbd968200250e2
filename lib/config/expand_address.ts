/**
 * An address as configured → the host and port that it stands for in this environment.
 *
 * @module
 */
import { parseHostPort } from "./address.ts";
import { type Environment, expand, processEnvironment } from "./expand.ts";

/** What an address came to, or what is wrong with it. */
export type ExpandedAddress =
  | {
    readonly ok: true;
    /** A name or an IP address; IPv6 without brackets. */
    readonly host: string;
    /** May be 0, which a listener takes as "any free one". */
    readonly port: number;
    /** `host:port` with its variables filled in. */
    readonly text: string;
  }
  | {
    readonly ok: false;
    /** Whether a variable is amiss, or what the text expands to is no address. */
    readonly reason: "variable" | "form";
    /** What is wrong; never says what a variable holds, since that may be a secret. */
    readonly message: string;
    /** What would be right. */
    readonly hint: string;
  };

/** Fills in the variables of `text` and takes it apart as `host:port`, an IPv6 host in brackets. */
export function expandAddress(
  text: string,
  environment: Environment = processEnvironment,
): ExpandedAddress {
  const expansion = expand(text, environment);
  if (!expansion.ok) {
    const { message, hint } = expansion;
    return { ok: false, reason: "variable", message, hint };
  }
  const parsed = parseHostPort(expansion.text);
  if (parsed !== undefined) return { ok: true, ...parsed, text: expansion.text };
  return {
    ok: false,
    reason: "form",
    message: `${text === "" ? "an empty text" : text} is not an address`,
    hint: "write host:port, as in 127.0.0.1:15010 or [::1]:15010",
  };
}
