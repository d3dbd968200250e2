/**
 * The services on a real port, with ordinary clients of another library.
 */
import { assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { collectionResolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { listen } from "../../lib/transport/listener.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { addServices } from "../../lib/transport/services.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import {
  incrementalMeshConfigRequestCodec,
  incrementalMeshConfigResponseCodec,
  mcpResourceCodec,
  meshConfigRequestCodec,
  meshConfigResponseCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { Caller } from "./serving.ts";
import { now, until } from "./sockets.ts";
import { quietObserver } from "./quiet_observer.ts";

const SERVICE = "/istio.mcp.v1alpha1.AggregatedMeshConfigService";
const TYPE = "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry";

/** The listener's address as it might be configured. */
const NAME = "${HOST}:0";

/** Every service on a loopback port. */
class Services implements AsyncDisposable {
  readonly hub = new Hub();
  readonly #sender = new Sender({ now });
  readonly #server = new PushServer({ now });
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.#sender,
    clock: systemClock,
    observer: quietObserver,
  });

  private constructor() {
    const resolver = collectionResolver({ unknownCollection: "empty" });
    addServices(this.#server, {
      sessions: this.sessions,
      instance: "test",
      typeUrls: typeUrlResolver(),
      collections: () => resolver,
    });
  }

  static async start() {
    const services = new Services();
    const options = { now, name: NAME };
    const listener = await listen({ host: "127.0.0.1", port: 0 }, services.#server, options);
    return { services, listener };
  }

  publish(...names: readonly string[]): void {
    const empty = emptySnapshot(SETTINGS);
    const resources = names.map((text) => {
      const [name, version] = text.split("@") as [string, string];
      const bytes = mcpResourceCodec.encode({ metadata: { name, version } });
      return { name, version, bytes };
    });
    const collections = new Map(empty.collections);
    collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources));
    const snapshot = makeSnapshot({ ...empty, collections });
    this.hub.publish({ snapshot, changedAt: systemClock.now() });
  }

  async [Symbol.asyncDispose]() {
    this.sessions[Symbol.dispose]();
    await this.#server[Symbol.asyncDispose]();
    await until(() => this.#server.connections === 0, "every connection is closed");
    this.#sender[Symbol.dispose]();
  }
}

Deno.test("services: AggregatedMeshConfigService, state of the world", async () => {
  const { services, listener } = await Services.start();
  await using _services = services;
  await using _listener = listener;
  services.publish("shop/a@1", "shop/b@1");
  await using caller = new Caller(listener.address.port);
  const call = caller.call(`${SERVICE}/StreamAggregatedResources`);
  const ask = (responseNonce: string) =>
    call.send(
      meshConfigRequestCodec.encode({ sinkNode: { id: "old" }, typeUrl: TYPE, responseNonce }),
    );
  ask("");
  await until(() => call.received.length === 1, "an answer");
  const first = meshConfigResponseCodec.decode(call.received[0]!);
  assertEquals(first.typeUrl, TYPE);
  assertEquals(first.resources.map((r) => r.metadata!.name), ["shop/a", "shop/b"]);
  ask(first.nonce);
  await until(() => services.sessions.list()[0]!.subscriptions()[0]!.acks === 1, "the ACK");
  services.publish("shop/a@2");
  await until(() => call.received.length === 2, "the change");
  const second = meshConfigResponseCodec.decode(call.received[1]!);
  assertEquals(second.resources.map((r) => r.metadata!.version), ["2"]);
  const { protocol, kind, listener: name } = services.sessions.list()[0]!;
  assertEquals([protocol, kind, name], ["mesh-config", "istio", NAME]);
});

Deno.test("services: AggregatedMeshConfigService, incremental", async () => {
  const { services, listener } = await Services.start();
  await using _services = services;
  await using _listener = listener;
  services.publish("shop/a@1", "shop/b@2");
  await using caller = new Caller(listener.address.port);
  const call = caller.call(`${SERVICE}/IncrementalAggregatedResources`);
  const ask = (responseNonce: string, initialResourceVersions = {}) =>
    call.send(
      incrementalMeshConfigRequestCodec.encode({
        sinkNode: { id: "old" },
        typeUrl: TYPE,
        responseNonce,
        initialResourceVersions,
      }),
    );
  ask("", { "shop/a": "1", "shop/b": "1", "shop/gone": "1" });
  await until(() => call.received.length === 1, "an answer");
  const first = incrementalMeshConfigResponseCodec.decode(call.received[0]!);
  assertEquals(first.resources.map((r) => r.metadata!.name), ["shop/b"]);
  assertEquals(first.removedResources, ["shop/gone"]);
  assertEquals(first.nonce.endsWith(`/${TYPE}`), true);
  ask(first.nonce);
  await until(() => services.sessions.list()[0]!.subscriptions()[0]!.acks === 1, "the ACK");
  services.publish("shop/b@2");
  await until(() => call.received.length === 2, "the change");
  const second = incrementalMeshConfigResponseCodec.decode(call.received[1]!);
  assertEquals([second.resources, second.removedResources], [[], ["shop/a"]]);
});
