/**
 * Patterns of names that certificates prove: those of URIs fit URIs, those of DNS names DNS names, which
 * have no case.
 *
 * @module
 */
import { matchesPattern } from "./pattern.ts";

/**
 * Whether a name out of a certificate fits a pattern of names. A pattern with `:` or `/` is one of URIs,
 * any other one of DNS names, whatever the case of either; else `*.example.org` would let in
 * `spiffe://…/sa/x.example.org`. Nothing but `*` fits both.
 */
export function fitsIdentity(pattern: string, name: string): boolean {
  if (/^\*+$/.test(pattern)) return true;
  if (isOfUris(pattern) !== isOfUris(name)) return false;
  if (isOfUris(name)) return matchesPattern(pattern, name);
  return matchesPattern(pattern.toLowerCase(), name.toLowerCase());
}

/**
 * Whether the name of a source fits a pattern: as {@link fitsIdentity} says where a certificate named it
 * (`namedBy` is `uri` or `dns`), else to the letter.
 */
export function fitsSource(pattern: string, name: string, namedBy: string | undefined): boolean {
  const certified = namedBy === "uri" || namedBy === "dns";
  return certified ? fitsIdentity(pattern, name) : matchesPattern(pattern, name);
}

function isOfUris(text: string): boolean {
  return /[:/]/.test(text);
}
