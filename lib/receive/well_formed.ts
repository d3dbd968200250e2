/**
 * Whether bytes are a protobuf message at all, for messages whose fields are not known here.
 *
 * @module
 */

const MAX_DEPTH = 100;
const MAX_FIELD = 2 ** 29 - 1;
const VARINT_BYTES = 10;

/** What kinds of value a tag announces (protobuf's encoding guide, "message structure"). */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

/**
 * Whether the bytes are fields from the first to the last: tags with a number and a known type, values
 * that end where the bytes do at the latest, groups that are closed. What a field holds is not looked at.
 */
export function isWellFormed(bytes: Uint8Array): boolean {
  const groups: number[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(view, at);
    if (tag === undefined) return false;
    const field = Math.floor(tag.value / 8);
    if (field < 1 || field > MAX_FIELD) return false;
    const wire = tag.value % 8;
    at = tag.end;
    if (wire === WIRE.groupStart) {
      if (groups.push(field) > MAX_DEPTH) return false;
    } else if (wire === WIRE.groupEnd) {
      if (groups.pop() !== field) return false;
    } else {
      const end = endOfValue(view, at, wire);
      if (end === undefined || end > bytes.length) return false;
      at = end;
    }
  }
  return groups.length === 0;
}

function endOfValue(view: DataView, at: number, wire: number): number | undefined {
  if (wire === WIRE.fixed64) return at + 8;
  if (wire === WIRE.fixed32) return at + 4;
  if (wire !== WIRE.varint && wire !== WIRE.bytes) return undefined;
  const varint = readVarint(view, at);
  if (varint === undefined) return undefined;
  return wire === WIRE.varint ? varint.end : varint.end + varint.value;
}

/** The value is exact below 2^53 only: more than any tag or length that fits. */
function readVarint(
  view: DataView,
  at: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES && at + index < view.byteLength; index++) {
    const byte = view.getUint8(at + index);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return undefined;
}
