/**
 * A message of a source that is larger than it may be, said with the setting that decides.
 *
 * @module
 */
import type { RefusedPush } from "./source_registry.ts";

/** What grpc-js (1.14.7) says of it. */
const LARGER = /larger than max \((\d+) vs\.? (\d+)\)/;

/**
 * The push for which a stream ended with this failure, if it ended since a message was too large: it was
 * not read, so nothing is known of it but perhaps the collection that was `awaited`.
 */
export function tooLarge(
  failure: string | undefined,
  awaited: string | undefined,
): RefusedPush | undefined {
  const [, size, limit] = LARGER.exec(failure ?? "") ?? [];
  if (size === undefined) return undefined;
  const message = `a push has ${size} bytes, and limits.message lets ${limit} pass; ` +
    "raise that here, or have the source give less";
  const head = { type: awaited ?? "(unknown)", nonce: "", version: "", incremental: false };
  return { kind: "refused", head, findings: [], message };
}
