/**
 * The records at the end of a source's file.
 *
 *     record          u32 length of its content, the content, checksum, 32 bytes, seal, 16 bytes
 *
 * A record's checksum is over the checksum before and itself, so a record counts only behind those that
 * it was written behind. The seal is the same for all records of a file; it is written once the record
 * is on the disk, and needs no flush of its own. So where bytes that are no record have a seal behind
 * them, they were one once and the disk has changed them; where they have none, their writing was not
 * finished, or nobody can tell: then it is the last change alone that is left out.
 *
 * @module
 */
import { CHECKSUM_LENGTH, checksumOf, equalBytes } from "../snapshot/sections.ts";

const SEAL_LENGTH = 16;

/** A record, read. */
export interface SourceRecord {
  /** A view of the file. */
  readonly content: Uint8Array;
  readonly checksum: Uint8Array;
  /** Where its seal is, if it has one. */
  readonly end: number;
}

/** A record of these sections without its seal, to stand behind what has the checksum `before`. */
export function joinRecord(
  sections: readonly Uint8Array[],
  before: Uint8Array,
): { readonly bytes: Uint8Array; readonly checksum: Uint8Array } {
  const length = sections.reduce((sum, section) => sum + section.length, 0);
  const bytes = new Uint8Array(4 + length + CHECKSUM_LENGTH);
  new DataView(bytes.buffer).setUint32(0, length);
  let at = 4;
  for (const section of sections) {
    bytes.set(section, at);
    at += section.length;
  }
  const checksum = checksumOf(before, bytes.subarray(0, at));
  bytes.set(checksum, at);
  return { bytes, checksum };
}

/** The record at `at`; undefined where there is none behind what has the checksum `before`. */
export function recordAt(
  bytes: Uint8Array,
  at: number,
  before: Uint8Array,
): SourceRecord | undefined {
  if (at + 4 > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const contentEnd = at + 4 + view.getUint32(at);
  const end = contentEnd + CHECKSUM_LENGTH;
  if (end > bytes.length) return undefined;
  const checksum = bytes.subarray(contentEnd, end);
  if (!equalBytes(checksumOf(before, bytes.subarray(at, contentEnd)), checksum)) return undefined;
  return { content: bytes.subarray(at + 4, contentEnd), checksum, end };
}

/** The seal of a file whose set has this checksum: nothing else in it has it by chance. */
export function sealOf(base: Uint8Array): Uint8Array {
  return checksumOf(new TextEncoder().encode("seal"), base).subarray(0, SEAL_LENGTH);
}

/** Where what follows a record that ends at `at` begins: behind its seal, if it has one. */
export function endOfSeal(bytes: Uint8Array, at: number, seal: Uint8Array): number {
  const end = at + seal.length;
  return equalBytes(bytes.subarray(at, end), seal) ? end : at;
}

/** Whether there is a seal anywhere from `at` on. */
export function isSealedBehind(bytes: Uint8Array, at: number, seal: Uint8Array): boolean {
  for (let next = at; (next = bytes.indexOf(seal[0]!, next)) >= 0; next++) {
    if (endOfSeal(bytes, next, seal) > next) return true;
  }
  return false;
}
