import { assertEquals, assertThrows } from "@std/assert";
import http2, { type Http2Session } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import type { Gate } from "../../lib/transport/gate.ts";
import { rawMethod } from "../../lib/transport/grpc_bytes.ts";
import { GrpcInternalsError, HookedServer } from "../../lib/transport/hooked_server.ts";
import { unframedClient } from "../../lib/transport/unframed_client.ts";
import { PATH, Serving } from "./serving.ts";
import { until } from "./sockets.ts";

// That the hooks do their work is seen in the tests of server and dial-out; here, that a grpc-js
// without them is refused at once and not found out on the wire.

Deno.test("grpc-js internals: a server that makes its HTTP/2 server otherwise is refused", () => {
  const prototype = grpc.Server.prototype as unknown as Record<string, unknown>;
  const original = prototype["createHttp2Server"];
  const otherwise = prototype["experimentalCreateConnectionInjectorWithChannelzRef"];
  try {
    delete prototype["createHttp2Server"];
    assertThrows(() => new HookedServer({}), GrpcInternalsError, "no createHttp2Server");
    prototype["createHttp2Server"] = original;
    prototype["experimentalCreateConnectionInjectorWithChannelzRef"] = () => ({});
    assertThrows(() => new HookedServer({}), GrpcInternalsError, "in another way");
  } finally {
    prototype["createHttp2Server"] = original;
    prototype["experimentalCreateConnectionInjectorWithChannelzRef"] = otherwise;
  }
});

Deno.test("grpc-js internals: a call opened outside its stream's event is refused", () => {
  const hooked = new HookedServer({ "grpc.enable_channelz": 0 });
  assertThrows(() => hooked.below(), GrpcInternalsError, "opens calls in another way");
  hooked.close();
});

Deno.test("grpc-js internals: a session ends with its connection", async () => {
  await using serving = await Serving.start();
  const hooked = new HookedServer({ "grpc.enable_channelz": 0 });
  const gates: Gate[] = [];
  serving.server.inject = (gate) => {
    gates.push(gate);
    hooked.inject(gate);
  };
  let session: Http2Session | undefined;
  hooked.server.addService({ [PATH]: rawMethod(PATH, true) }, {
    [PATH]: () => {
      const { stream } = hooked.below();
      session = stream.session;
      stream.respond({ ":status": 200 });
      stream.write(new Uint8Array(30_000));
    },
  });
  const client = http2.connect(`http://127.0.0.1:${serving.port}`);
  client.on("error", () => {});
  const request = client.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
  });
  request.on("error", () => {}).resume();
  request.write(new Uint8Array(6)); // nobody reads it
  await until(() => session !== undefined, "the call is open");
  client.destroy(); // left alone, the runtime keeps the session of such a client for good
  await until(() => gates[0]!.closed, "the connection is closed");
  await until(() => session!.destroyed, "the session is destroyed");
  hooked.close();
});

Deno.test("grpc-js internals: a channel that works otherwise is refused", () => {
  const prototype = grpc.Client.prototype as unknown as Record<string, unknown>;
  const original = prototype["getChannel"];
  const dial = () =>
    unframedClient("127.0.0.1:1", grpc.credentials.createInsecure(), () => never, {});
  try {
    prototype["getChannel"] = () => ({ internalChannel: {} });
    assertThrows(dial, GrpcInternalsError, "frames its messages in another way");
    const filterStackFactory = { factories: [{ createFilter: () => ({}) }] };
    prototype["getChannel"] = () => ({ internalChannel: { filterStackFactory } });
    assertThrows(dial, GrpcInternalsError, "gets its subchannels in another way");
  } finally {
    prototype["getChannel"] = original;
  }
});

Deno.test("grpc-js internals: a client's connections are ours to make", async () => {
  const addresses: unknown[] = [];
  const connect = (address: unknown) => {
    addresses.push(address);
    return never;
  };
  const credentials = grpc.credentials.createInsecure();
  const client = unframedClient("127.0.0.1:9901", credentials, connect, {});
  client.getChannel().getConnectivityState(true);
  await until(() => addresses.length === 1, "it wants a connection");
  assertEquals(addresses, [{ host: "127.0.0.1", port: 9901 }]);
  client.close();
});

const never = new Promise<never>(() => {});
