/** Raw HTTP/2 frames, valid and not, for those who break the rules. */

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
};

/** One frame. */
export function frame(type, flags, stream, body = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, body]);
}

/** A literal header field without indexing. */
export function literal(name, value) {
  return Buffer.concat([
    Buffer.from([0x00, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

/** The header block of a gRPC call. */
export function requestHeaders(path) {
  return Buffer.concat([
    Buffer.from([0x83, 0x86]), // :method POST, :scheme http
    literal(":path", path),
    literal(":authority", "x"),
    literal("content-type", "application/grpc"),
    literal("te", "trailers"),
  ]);
}

/** The header block of a gRPC response. */
export function responseHeaders() {
  return Buffer.concat([Buffer.from([0x88]), literal("content-type", "application/grpc")]);
}

/** SETTINGS entries with small random identifiers and values. */
export function randomSettings(random, count) {
  return Buffer.concat(
    Array.from(
      { length: count },
      () =>
        Buffer.from([0, random.below(8), 0, random.below(3), random.below(256), random.below(256)]),
    ),
  );
}
