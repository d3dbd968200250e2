// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * An ADS client (state of the world) that ACKs every push as soon as it is there and says when, and
 * looks no further than for the newest revision: node timed_client.mjs --port P. Prints a JSON line a
 * push. Dials again every few milliseconds until it is served.
 */
import http2 from "node:http2";
import { grpcFrame, options, sleep } from "./random.mjs";

const { port } = options({ port: 0 });
const PATH = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const TYPE_URL = "networking.istio.io/v1/ServiceEntry";

const text = (field, value) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes]);
};
const NODE = text(2, text(1, "sidecar~10.0.0.1~timed.default~default.svc.cluster.local"));
const now = () => performance.timeOrigin + performance.now();

/** Version (field 1, the first) and nonce (field 5, behind all resources) of a response. */
function headOf(message) {
  const version = message.toString("latin1", 2, 2 + message[1]);
  const mark = Buffer.concat([text(4, TYPE_URL), Buffer.from([0x2a])]);
  const at = message.lastIndexOf(mark) + mark.length;
  return { version, nonce: message.toString("latin1", at + 1, at + 1 + message[at]) };
}

/** The newest revision in a message: `rev-` and six digits. */
function newestOf(message) {
  let newest = "";
  for (let at = message.indexOf("rev-"); at >= 0; at = message.indexOf("rev-", at + 10)) {
    const revision = message.toString("latin1", at, at + 10);
    if (revision > newest) newest = revision;
  }
  return newest;
}

function stream() {
  return new Promise((over) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on("error", over);
    const stream = session.request({
      ":method": "POST",
      ":path": PATH,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", over).on("close", over);
    stream.write(grpcFrame(Buffer.concat([NODE, text(4, TYPE_URL)])));
    let chunks = [];
    let length = 0;
    stream.on("data", (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      for (;;) {
        if (length >= 5 && chunks[0].length < 5) chunks = [Buffer.concat(chunks)];
        if (length < 5 || length < 5 + chunks[0].readUInt32BE(1)) return;
        const all = Buffer.concat(chunks);
        const end = 5 + all.readUInt32BE(1);
        const message = all.subarray(5, end);
        chunks = [all.subarray(end)];
        length -= end;
        const { version, nonce } = headOf(message);
        const ack = Buffer.concat([text(1, version), NODE, text(4, TYPE_URL), text(5, nonce)]);
        stream.write(grpcFrame(ack), () => {
          console.log(JSON.stringify({ at: now(), saw: newestOf(message), bytes: message.length }));
        });
      }
    });
  });
}

for (;;) {
  await stream();
  await sleep(5);
}
