/** MCP messages as bytes, valid and not, for sources that no library would be. */

export const SERVICE_ENTRIES = "istio/networking/v1alpha3/serviceentries";
export const VIRTUAL_SERVICES = "istio/networking/v1alpha3/virtualservices";
export const RESOURCE_SINK = "/istio.mcp.v1alpha1.ResourceSink/EstablishResourceStream";

function varint(value) {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  out.push(value);
  return Buffer.from(out);
}

/** A field of bytes or text. */
export function field(number, value) {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A field of a number or boolean. */
export function number(number, value) {
  return Buffer.concat([varint(number * 8), varint(Number(value))]);
}

/** `Resources`. */
export function push({
  version = "1",
  collection = SERVICE_ENTRIES,
  resources = [],
  removed = [],
  nonce = "",
  incremental = false,
}) {
  return Buffer.concat([
    field(1, version),
    field(2, collection),
    ...resources.map((one) => field(3, one)),
    ...removed.map((one) => field(4, one)),
    field(5, nonce),
    number(6, incremental),
  ]);
}

/** `Resource` with this body, an Any. */
export function resource(name, { type, value }, { version = "1", labels = {} } = {}) {
  const entry = ([key, text]) => field(4, Buffer.concat([field(1, key), field(2, text)]));
  const metadata = Buffer.concat([
    field(1, name),
    field(2, number(1, 1_577_836_800)),
    field(3, version),
    ...Object.entries(labels).map(entry),
  ]);
  const any = Buffer.concat([
    field(1, `type.googleapis.com/istio.networking.v1alpha3.${type}`),
    field(2, value),
  ]);
  return Buffer.concat([field(1, metadata), field(2, any)]);
}

/** A ServiceEntry of one port and one endpoint. */
export function serviceEntry(host, address = "192.0.2.1", label = "x") {
  const port = Buffer.concat([number(1, 80), field(2, "HTTP"), field(3, "http")]);
  const labels = Buffer.concat([field(1, "revision"), field(2, label)]);
  const value = Buffer.concat([
    field(1, host),
    field(3, port),
    number(4, 0),
    number(5, 1),
    field(6, Buffer.concat([field(1, address), field(3, labels)])),
  ]);
  return { type: "ServiceEntry", value };
}

/** A VirtualService with a route to `host`, and hosts of about `size` bytes together. */
export function virtualService(host, size) {
  const route = field(3, field(2, field(1, field(1, host))));
  const hosts = Array.from(
    { length: Math.floor(size / (HOST_LENGTH + 3)) },
    (_, i) => field(1, `h${i}.`.padEnd(HOST_LENGTH - host.length, "long.") + host),
  );
  return { type: "VirtualService", value: Buffer.concat([...hosts, route]) };
}

const HOST_LENGTH = 240;

/** What a `RequestResources` answers: its nonce, and whether it is a NACK. */
export function readAnswer(message) {
  const out = { collection: "", nonce: "", nack: false };
  let at = 0;
  const read = () => {
    let value = 0;
    for (let shift = 1;; shift *= 128) {
      const byte = message[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = read();
    if ((key & 7) === 0) read();
    else {
      const length = read();
      if (key >> 3 === 2) out.collection = message.toString("utf8", at, at + length);
      if (key >> 3 === 4) out.nonce = message.toString("utf8", at, at + length);
      if (key >> 3 === 5) out.nack = true;
      at += length;
    }
  }
  return out;
}
