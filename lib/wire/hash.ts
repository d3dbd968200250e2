/**
 * Content hashes. A version is never a counter: a counter that starts again at 1 strands every
 * client that holds "1" (design.md section 5), so two instances with equal content have equal versions.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** Characters of a version: 64 bits of SHA-256, in hex. */
export const VERSION_LENGTH = 16;

/** 16 hex characters of SHA-256 over the parts; each is preceded by its length, so that no two lists of parts collide. */
export function contentHash(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  const length = new Uint8Array(4);
  const view = new DataView(length.buffer);
  for (const part of parts) {
    const bytes = typeof part === "string" ? encoder.encode(part) : part;
    view.setUint32(0, bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest("hex").slice(0, VERSION_LENGTH);
}

const encoder = new TextEncoder();
