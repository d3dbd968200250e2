import { assertEquals } from "@std/assert";
import { XDS_TYPES, xdsType } from "../../lib/model/xds_type.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { sotwCodec } from "../../lib/transport/codecs.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { discoveryRequestCodec, discoveryResponseCodec } from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { now } from "./sockets.ts";
import { quietObserver } from "./quiet_observer.ts";

const CDS = xdsType("Cluster").typeUrl;
const EDS = xdsType("ClusterLoadAssignment").typeUrl;

/** Streams of Envoys that answer only when the test says so. */
class Bench implements Disposable {
  readonly hub = new Hub();
  readonly #sender = new Sender({ now });
  readonly #sessions = new Sessions({
    targets: this.hub,
    sender: this.#sender,
    clock: new FakeClock(),
    observer: quietObserver,
  });
  readonly #resolvers = xdsResolvers({
    empty: (_, name) => ({ name, version: "0", bytes: new Uint8Array(0) }),
    variant: (routes) => routes,
  });

  /** Publishes clusters in these versions; the endpoints of each stay as they are. */
  async publish(clusters: Readonly<Record<string, string>>): Promise<void> {
    const empty = emptySnapshot(SETTINGS);
    const collections = new Map(empty.collections);
    const bytes = new Uint8Array(1);
    for (const { name: type, typeUrl } of XDS_TYPES) {
      const resources = Object.entries(clusters).map(([name, version]) => {
        return { name, version: type === "Cluster" ? version : "1", bytes };
      });
      collections.set(type, Collection.of(typeUrl, resources));
    }
    this.hub.publish({ snapshot: makeSnapshot({ ...empty, collections }), changedAt: 0 });
    await settle();
  }

  open(id: string, address: string, port: number): Client {
    const stream = new FakeStream({ address, port });
    this.#sessions.open(
      stream,
      (prefix, kind) => new SotwMachine({ prefix, resolver: this.#resolvers(kind) }),
      sotwCodec("test"),
    );
    return new Client(stream, id);
  }

  [Symbol.dispose](): void {
    this.#sessions[Symbol.dispose]();
    this.#sender[Symbol.dispose]();
  }
}

class Client {
  readonly #stream: FakeStream;
  readonly #id: string;

  constructor(stream: FakeStream, id: string) {
    this.#stream = stream;
    this.#id = id;
  }

  get answers(): number {
    return this.#stream.written.length;
  }

  async ask(typeUrl: string, resourceNames: readonly string[] = [], responseNonce = "") {
    const node = { id: this.#id, userAgentName: "envoy" };
    this.#stream.request(
      discoveryRequestCodec.encode({ node, typeUrl, resourceNames, responseNonce }),
    );
    await settle();
  }

  /** Accepts the last answer of a type. */
  async accept(typeUrl: string, resourceNames: readonly string[] = []): Promise<void> {
    const answers = this.#stream.written.map((bytes) => discoveryResponseCodec.decode(bytes));
    const { nonce } = answers.findLast((answer) => answer.typeUrl === typeUrl)!;
    await this.ask(typeUrl, resourceNames, nonce);
  }
}

Deno.test("siblings: once a changed cluster is accepted on a stream of its own, its endpoints come again on the other", async () => {
  using bench = new Bench();
  await bench.publish({ a: "1", b: "1" });
  const clusters = bench.open("e", "192.0.2.1", 1);
  const endpoints = bench.open("e", "192.0.2.1", 2);
  const others = [bench.open("other", "192.0.2.1", 1), bench.open("e", "192.0.2.2", 1)];
  await clusters.ask(CDS);
  await clusters.accept(CDS);
  for (const one of [endpoints, ...others]) {
    await one.ask(EDS, ["a"]);
    await one.accept(EDS, ["a"]);
  }
  await bench.publish({ a: "2", b: "1" });
  assertEquals([clusters.answers, endpoints.answers], [2, 1], "not before it is accepted");
  await clusters.accept(CDS);
  assertEquals([endpoints.answers, ...others.map((one) => one.answers)], [2, 1, 1]);
  await endpoints.accept(EDS, ["a"]);
  await bench.publish({ a: "2", b: "2", c: "1" });
  await clusters.accept(CDS);
  assertEquals(endpoints.answers, 2, "nothing that it asks for has changed");
});

Deno.test("siblings: a stream that has both is not told twice", async () => {
  using bench = new Bench();
  await bench.publish({ a: "1" });
  const both = bench.open("e", "192.0.2.1", 1);
  const endpoints = bench.open("e", "192.0.2.1", 2);
  await both.ask(CDS);
  await both.accept(CDS);
  for (const one of [both, endpoints]) {
    await one.ask(EDS, ["a"]);
    await one.accept(EDS, ["a"]);
  }
  await bench.publish({ a: "2" });
  await both.accept(CDS); // the cluster
  await both.accept(EDS, ["a"]); // its endpoints, sent again
  assertEquals([both.answers, endpoints.answers], [4, 1]);
});
