/** What peers may do wrong, told to them in words, while others notice nothing. */
import { assert, assertEquals, assertMatch } from "@std/assert";
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
    assertMatch(why, /larger|RESOURCE_EXHAUSTED|limit/i);
  });
  await t.step("bytes that are no request", async () => {
    assertMatch(await endOf(address, mcp.path, Uint8Array.of(255, 255)), /not a valid request/);
  });
  await t.step("no node id", async () => {
    const typeUrl = "networking.istio.io/v1/ServiceEntry";
    for (
      const [path, bytes] of [
        [sotw.path, discoveryRequestCodec.encode({ typeUrl })],
        [delta.path, deltaDiscoveryRequestCodec.encode({ typeUrl })],
      ] as const
    ) assertMatch(await endOf(address, path, bytes), /node/);
  });
  await t.step("a type that is not served", async () => {
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const bytes = discoveryRequestCodec.encode({ node: { id: "x" }, typeUrl });
    assertMatch(await endOf(address, sotw.path, bytes), /Cluster.* is not served here/);
  });
  await t.step("a method that is not served", async () => {
    assertMatch(
      await endOf(address, "/nope.Nope/Nope", Uint8Array.of()),
      /UNIMPLEMENTED|not|unknown/i,
    );
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
    const failed = await fetch(`http://${address}/`).then(() => false, () => true);
    assert(failed);
  });

  await pinnace.write(SERVICES.replace("192.0.2.1", "192.0.2.2"));
  await honest.holds({ "default/orders": ["192.0.2.2"] });
  assertEquals(honest.over, undefined);

  await t.step(
    "with mcp.unknownCollection: error, an unknown collection ends the stream",
    async () => {
      await pinnace.write(`mcp: { unknownCollection: error }\n${SERVICES}`);
      await honest.holds({ "default/orders": ["192.0.2.1"] });
      const bytes = requestResourcesCodec.encode({ collection: "nope" });
      assertMatch(await endOf(address, mcp.path, bytes), /"nope" is not served here/);
    },
  );
});
