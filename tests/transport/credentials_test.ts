import { Buffer } from "node:buffer";
import { assertEquals, assertThrows } from "@std/assert";
import * as grpc from "@grpc/grpc-js";
import { gatedCredentials } from "../../lib/transport/credentials.ts";
import type { Gate } from "../../lib/transport/gate.ts";
import { goaway } from "./frames.ts";
import { Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

Deno.test("credentials: after GOAWAY the next call goes over a new connection", async () => {
  await using serving = await Serving.start();
  serving.server.addUnary("/test.Service/Unary", (request) => Promise.resolve(request));
  const gates: Gate[] = [];
  const inject = serving.server.inject.bind(serving.server);
  serving.server.inject = (gate) => {
    gates.push(gate);
    inject(gate);
  };
  const said: string[] = [];
  const credentials = gatedCredentials({
    now,
    hooks: {
      connected: () => void said.push("connected"),
      drain: ({ code, debug }) => void said.push(`drain ${code} ${debug}`),
    },
  });
  const client = new grpc.Client(`127.0.0.1:${serving.port}`, credentials);
  const call = () =>
    new Promise<void>((resolve, reject) => {
      const codec = (bytes: Buffer) => bytes;
      client.makeUnaryRequest("/test.Service/Unary", codec, codec, Buffer.from("x"), (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  await call();
  await call();
  gates[0]!.write(goaway(0x7fff_ffff, 0, "max_age")); // between two frames: nothing else is going on
  await until(() => gates[0]!.closed, "the first connection is closed");
  await call();
  await call();
  assertEquals(said, ["connected", "drain 0 max_age", "connected"]);
  assertEquals(gates.length, 2);
  client.close();
});

Deno.test("credentials: tokens do not travel in plaintext", () => {
  const credentials = gatedCredentials({ now });
  assertThrows(
    () => credentials.compose(grpc.credentials.createEmpty()),
    TypeError,
    "must not travel in plaintext",
  );
});

Deno.test("credentials: channels share no connection", () => {
  const [one, other] = [gatedCredentials({ now }), gatedCredentials({ now })];
  assertEquals([one._equals(one), one._equals(other)], [true, false]);
});
