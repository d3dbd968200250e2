/**
 * The server under test of the gRPC conformance suite: Pinnace's own server and listener, with the
 * suite's service. `grpc` as argument serves it with grpc-js's handlers, `push` on push streams.
 * Told by a message on standard input, tells by one on standard output where it listens, and ends
 * when it is asked to with SIGTERM.
 *
 * @module
 */
import { listen } from "../../../lib/transport/listener.ts";
import { PushServer } from "../../../lib/transport/server.ts";
import { definition, implementation } from "./grpc_service.ts";
import { decode, encode, type ServerCompatRequest } from "./messages.ts";
import { addPushService } from "./push_service.ts";

const input = Deno.stdin.readable.getReader();
let unread = new Uint8Array(0);

const length = new DataView((await read(4)).buffer).getUint32(0);
const asked = decode<ServerCompatRequest>("ServerCompatRequest", await read(length));
if (asked.useTls === true) throw new Error("this server speaks plaintext only");

const now = () => performance.now();
const limit = asked.messageReceiveLimit;
await using server = new PushServer({ now, ...(limit === undefined ? {} : { maxReceive: limit }) });
if (Deno.args[0] === "push") addPushService(server);
else server.addService(definition, implementation);
await using listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now });

const { host, port } = listener.address;
const answer = encode("ServerCompatResponse", { host, port });
const framed = new Uint8Array(4 + answer.length);
new DataView(framed.buffer).setUint32(0, answer.length);
framed.set(answer, 4);
await Deno.stdout.write(framed);

const { promise: ending, resolve } = Promise.withResolvers<void>();
Deno.addSignalListener("SIGTERM", resolve);
await ending;
Deno.exit(0);

/** The next bytes of the input, that many. */
async function read(count: number): Promise<Uint8Array<ArrayBuffer>> {
  while (unread.length < count) {
    const { value, done } = await input.read();
    if (done) throw new Error("the input ended early");
    const joined = new Uint8Array(unread.length + value.length);
    joined.set(unread);
    joined.set(value, unread.length);
    unread = joined;
  }
  const bytes = unread.slice(0, count);
  unread = unread.slice(count);
  return bytes;
}
