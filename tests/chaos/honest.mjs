// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * Honest peers beside the abuse: node honest.mjs --port P. Five streams (state of the world, delta and
 * MCP), each ACKs every push, notes which revisions it saw and prints each when it sees it first. A
 * line on standard input asks for a report; the answer is one numbered JSON line. A stream that ends is opened again, and counted.
 */
import http2 from "node:http2";
import readline from "node:readline";
import { grpcFrame, options } from "./random.mjs";

const { port } = options({ port: 0 });
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const TYPE_URL = "networking.istio.io/v1/ServiceEntry";
const COLLECTION = "istio/networking/v1alpha3/serviceentries";

const text = (field, value) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes]);
};
const node = (field, id) => {
  const body = text(1, id);
  return Buffer.concat([Buffer.from([(field << 3) | 2, body.length]), body]);
};

const PROTOCOLS = {
  sotw: {
    path: `${ADS}/StreamAggregatedResources`,
    first: (id) => Buffer.concat([node(2, id), text(4, TYPE_URL)]),
    ack: (id, { version, nonce }) =>
      Buffer.concat([text(1, version), node(2, id), text(4, TYPE_URL), text(5, nonce)]),
  },
  delta: {
    path: `${ADS}/DeltaAggregatedResources`,
    first: (id) => Buffer.concat([node(1, id), text(2, TYPE_URL)]),
    ack: (_id, { nonce }) => Buffer.concat([text(2, TYPE_URL), text(6, nonce)]),
  },
  mcp: {
    path: "/istio.mcp.v1alpha1.ResourceSource/EstablishResourceStream",
    first: (id) => Buffer.concat([node(1, id), text(2, COLLECTION)]),
    ack: (id, { nonce }) => Buffer.concat([node(1, id), text(2, COLLECTION), text(4, nonce)]),
  },
};

/** Version (field 1) and nonce (field 5) of a response, whichever protocol. */
function head(message) {
  const out = { version: "", nonce: "" };
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1;; shift *= 128) {
      const byte = message[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = varint();
    if ((key & 7) === 0) varint();
    else {
      const length = varint();
      if (key >> 3 === 1) out.version = message.toString("utf8", at, at + length);
      if (key >> 3 === 5) out.nonce = message.toString("utf8", at, at + length);
      at += length;
    }
  }
  return out;
}

class Honest {
  revisions = new Set();
  ends = [];
  pushes = 0;

  constructor(name, protocol) {
    this.name = name;
    this.protocol = PROTOCOLS[protocol];
    this.#open();
  }

  #open() {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on("error", (error) => this.#ended(session, error.code ?? error.message));
    const stream = session.request({
      ":method": "POST",
      ":path": this.protocol.path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", (error) => this.#ended(session, error.message));
    stream.on("close", () => this.#ended(session, "the stream ended"));
    stream.write(grpcFrame(this.protocol.first(this.name)));
    let buffer = Buffer.alloc(0);
    stream.on("data", (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      while (buffer.length >= 5 && buffer.length >= 5 + buffer.readUInt32BE(1)) {
        const length = buffer.readUInt32BE(1);
        const message = buffer.subarray(5, 5 + length);
        buffer = buffer.subarray(5 + length);
        this.#take(message);
        stream.write(grpcFrame(this.protocol.ack(this.name, head(message))));
      }
    });
  }

  #take(message) {
    this.pushes++;
    for (const [revision] of message.toString("latin1").matchAll(/rev-\d{6}/g)) {
      if (this.revisions.has(revision)) continue;
      this.revisions.add(revision);
      console.log(JSON.stringify({ saw: revision, by: this.name }));
    }
  }

  #ended(session, why) {
    if (session.counted) return;
    session.counted = true;
    session.destroy();
    this.ends.push(why);
    setTimeout(() => this.#open(), 200);
  }
}

const peers = ["sotw", "sotw", "delta", "delta", "mcp"].map((protocol, i) =>
  new Honest(`honest-${i}-${protocol}`, protocol)
);
let reports = 0;
readline.createInterface({ input: process.stdin }).on("line", () => {
  const report = peers.map(({ name, pushes, ends, revisions }) => ({
    name,
    pushes,
    ends,
    revisions: [...revisions].sort(),
  }));
  console.log(JSON.stringify({ number: ++reports, peers: report }));
}).on("close", () => process.exit(0));
