/** What peers may do wrong, told to them in words, while others notice nothing. */
import { assertEquals, assertMatch } from "@std/assert";
import {
  deltaDiscoveryRequestCodec,
  discoveryRequestCodec,
  requestResourcesCodec,
  resourcesCodec,
} from "../../lib/wire/messages.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { until } from "../interop/lib/wait.ts";
import { openStream, Peer, send, SPEECHES } from "./peer.ts";
import { Running, sourceLaunch } from "./running.ts";

const SERVICES = "services:\n  - name: orders\n    ports: [443/GRPC]\n    endpoints: [192.0.2.1]\n";

/** Opens a stream, sends this, and waits for why the stream ends. */
async function endOf(address: string, path: string, bytes: Uint8Array): Promise<string> {
  const stream = await openStream(address, path);
  stream.onRequest(() => {});
  send(stream, bytes);
  return await over(stream);
}

/** Waits at most so many milliseconds for it. */
async function deadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function over(stream: PushStream): Promise<string> {
  return until("the stream ends", () => stream.signal.aborted && (stream.failure ?? "no reason"), {
    deadline: 20_000,
  });
}

Deno.test("bad peers: each is told what is wrong, and an honest one notices nothing", async (t) => {
  await using pinnace = await Running.start(await sourceLaunch(), SERVICES);
  const { address } = pinnace;
  const { sotw, delta, mcp } = SPEECHES;
  using honest = await Peer.open(address, sotw);
  await honest.holds({ "default/orders": ["192.0.2.1"] });

  await t.step("a request of 100 MB", async () => {
    const why = await endOf(address, sotw.path, new Uint8Array(100_000_000));
    assertMatch(why, /^RESOURCE_EXHAUSTED: .*100000000/);
  });
  await t.step("bytes that are no request", async () => {
    const why = await endOf(address, mcp.path, Uint8Array.of(255, 255));
    assertMatch(why, /^INVALID_ARGUMENT: not a valid request/);
  });
  await t.step("no node id", async () => {
    const typeUrl = "networking.istio.io/v1/ServiceEntry";
    for (
      const [path, bytes] of [
        [sotw.path, discoveryRequestCodec.encode({ typeUrl })],
        [delta.path, deltaDiscoveryRequestCodec.encode({ typeUrl })],
      ] as const
    ) {
      const why = await endOf(address, path, bytes);
      assertMatch(why, /^INVALID_ARGUMENT: .*who sends it: node\.id is empty/);
    }
  });
  await t.step("a type that is not served", async () => {
    const typeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    const node = { id: "x" };
    for (
      const [path, bytes] of [
        [sotw.path, discoveryRequestCodec.encode({ node, typeUrl })],
        [delta.path, deltaDiscoveryRequestCodec.encode({ node, typeUrl })],
      ] as const
    ) {
      const why = await endOf(address, path, bytes);
      assertMatch(
        why,
        /^INVALID_ARGUMENT: .*Secret" is not served here; served are .*ServiceEntry/,
      );
    }
  });
  await t.step("a method that is not served", async () => {
    const why = await endOf(address, "/nope.Nope/Nope", Uint8Array.of());
    assertMatch(why, /^UNIMPLEMENTED: .*\/nope\.Nope\/Nope/);
  });
  await t.step("an unknown collection is answered empty", async () => {
    const stream = await openStream(address, mcp.path);
    const answer = new Promise<Uint8Array>((resolve) => stream.onRequest(resolve));
    send(stream, requestResourcesCodec.encode({ collection: "k8s/apps/v1/deployments" }));
    const { collection, resources } = resourcesCodec.decode(await answer);
    assertEquals([collection, resources.length], ["k8s/apps/v1/deployments", 0]);
    stream.end();
  });
  await t.step("HTTP/1 on the gRPC port", async () => {
    const [hostname, port] = address.split(":");
    using plain = await Deno.connect({ hostname: hostname!, port: Number(port) });
    await plain.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    const answer = plain.read(new Uint8Array(1024)).catch(() => null); // closed or reset, at once
    assertEquals(await deadline(answer, 5_000), null);
  });

  await pinnace.write(SERVICES.replace("192.0.2.1", "192.0.2.2"));
  await honest.holds({ "default/orders": ["192.0.2.2"] });
  assertEquals(honest.over, undefined);
  assertEquals(pinnace.process.ended, undefined);

  await t.step(
    "with mcp.unknownCollection: error, an unknown collection ends the stream",
    async () => {
      await pinnace.write(`mcp: { unknownCollection: error }\n${SERVICES}`);
      await honest.holds({ "default/orders": ["192.0.2.1"] });
      const bytes = requestResourcesCodec.encode({ collection: "nope" });
      assertMatch(
        await endOf(address, mcp.path, bytes),
        /^INVALID_ARGUMENT: .*"nope" is not served here/,
      );
    },
  );
});
