/**
 * What the name of a source rests on.
 *
 * @module
 */

const PROOFS: ReadonlySet<string> = new Set(["uri", "dns", "token"]);

/** Whether a name that came about like this (`uri`, `dns`, `token`, `instance`, `address`) is proved, so that nobody else can take it. */
export function isProof(namedBy: string | undefined): boolean {
  return PROOFS.has(namedBy ?? "");
}
