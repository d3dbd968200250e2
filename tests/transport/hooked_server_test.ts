import { assertThrows } from "@std/assert";
import * as grpc from "@grpc/grpc-js";
import { GrpcInternalsError, HookedServer } from "../../lib/transport/hooked_server.ts";
import { unframedClient } from "../../lib/transport/unframed_client.ts";

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

Deno.test("grpc-js internals: a channel that frames its messages otherwise is refused", () => {
  const prototype = grpc.Client.prototype as unknown as Record<string, unknown>;
  const original = prototype["getChannel"];
  try {
    prototype["getChannel"] = () => ({ internalChannel: {} });
    const dial = () => unframedClient("127.0.0.1:1", grpc.credentials.createInsecure(), {});
    assertThrows(dial, GrpcInternalsError, "frames its messages in another way");
  } finally {
    prototype["getChannel"] = original;
  }
});
