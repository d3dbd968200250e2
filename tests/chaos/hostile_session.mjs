/** Sessions of sources that dial a ResourceSink, for those who break its rules. */
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { push, readAnswer, RESOURCE_SINK } from "./mcp_messages.mjs";
import { grpcFrame, sleep } from "./random.mjs";

export const TRIGGER = grpcFrame(push({ collection: "$triggerCollection", version: "" }));

/** How to open sessions and streams to a port, each from some address and with some identity. */
export function hostileSessions({ port, identities, random, seen, onError }) {
  function session(identity = random.pick(identities)) {
    const s = http2.connect(`http${identity === undefined ? "" : "s"}://127.0.0.1:${port}`, {
      createConnection: () => {
        const localAddress = `127.0.0.${2 + random.below(6)}`;
        const socket = net.connect({ host: "127.0.0.1", port, localAddress }).on("error", onError);
        if (identity === undefined) return socket;
        return tls.connect({ ...identity, ALPNProtocols: ["h2"], socket, host: "127.0.0.1" });
      },
    });
    s.on("error", onError);
    return s;
  }

  /** Opens a stream. Its answers are counted and given to `answered`, unless it is not to be read. */
  function open(s, { headers = {}, read = true, answered = () => {} } = {}) {
    const stream = s.request({
      ":method": "POST",
      ":path": RESOURCE_SINK,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    stream.on("error", () => {});
    const ended = (of) => {
      const status = of["grpc-status"];
      if (status !== undefined) seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
    };
    stream.on("response", ended);
    stream.on("trailers", ended);
    if (!read) return stream.pause();
    let buffer = Buffer.alloc(0);
    stream.on("data", (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      while (buffer.length >= 5 && buffer.length >= 5 + buffer.readUInt32BE(1)) {
        const length = buffer.readUInt32BE(1);
        const answer = readAnswer(buffer.subarray(5, 5 + length));
        buffer = buffer.subarray(5 + length);
        if (answer.nonce === "") seen.asked++;
        else if (answer.nack) seen.nacks++;
        else seen.acks++;
        answered(answer);
      }
    });
    stream.write(TRIGGER);
    return stream;
  }

  /** Writes what `make` gives for so long, as fast as the other side takes it. */
  async function flood(stream, ms, make) {
    const until = Date.now() + ms;
    while (Date.now() < until && !stream.destroyed && !stream.closed) {
      if (!stream.write(make())) {
        await Promise.race([new Promise((resolve) => stream.once("drain", resolve)), sleep(100)]);
      } else if (random.chance(0.05)) await sleep(0);
    }
  }

  return { session, open, flood };
}
