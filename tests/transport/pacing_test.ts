import { setImmediate } from "node:timers";
import { assert, assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { mcpCodec } from "../../lib/transport/codecs.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import {
  mcpResourceCodec,
  requestResourcesCodec,
  resourcesCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { quietObserver } from "./quiet_observer.ts";

const COLLECTION = "istio/networking/v1alpha3/serviceentries";

/** Lets turns of the event loop pass, a thousand at most. */
async function turnsUntil(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !done(); turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** One sink, on a stream in memory. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly sender = new Sender({ now: () => this.clock.now() });
  readonly stream = new FakeStream();
  paced = 0;
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.sender,
    clock: this.clock,
    observer: {
      ...quietObserver,
      paced: () => void this.paced++,
    },
  });

  constructor() {
    const resolver = collectionResolver({ unknownCollection: "empty" });
    this.sessions.open(
      this.stream,
      (prefix) => new McpSourceMachine({ prefix, resolver }),
      mcpCodec("mcp-source"),
    );
    this.publish(0);
  }

  publish(version: number): void {
    const empty = emptySnapshot(SETTINGS);
    const metadata = { name: "shop/a", version: `${version}` };
    const resource = {
      name: "shop/a",
      version: `${version}`.padStart(16, "0"),
      bytes: mcpResourceCodec.encode({ metadata }),
    };
    const collections = new Map(empty.collections);
    collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, [resource]));
    const snapshot = makeSnapshot({ ...empty, collections });
    this.hub.publish({ snapshot, changedAt: this.clock.now() });
  }

  say(responseNonce: string, refuse = false, collection = COLLECTION): void {
    const error = refuse ? { errorDetail: { code: 3, message: "no" } } : {};
    this.stream.request(requestResourcesCodec.encode({ collection, responseNonce, ...error }));
  }

  get answers(): number {
    return this.stream.written.length;
  }

  last() {
    return resourcesCodec.decode(this.stream.written.at(-1)!);
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.sender[Symbol.dispose]();
  }
}

Deno.test("pacing: a sink that opens anew at each answer is answered twice a second after a burst", async () => {
  using bench = new Bench();
  const sink = async () => {
    for (let seen = bench.answers; seen < 1000;) {
      bench.say("");
      await settle();
      if (bench.answers === seen) return;
      seen = bench.answers;
    }
  };
  await sink();
  const burst = bench.answers;
  assert(burst >= 15 && burst <= 25, `${burst} answers at once`);
  for (let half = 0; half < 20; half++) {
    await bench.clock.pass(500);
    await sink();
  }
  const later = bench.answers - burst;
  assert(later >= 19 && later <= 21, `${later} answers in ten seconds`);
});

Deno.test("pacing: whoever asks a thousand times without waiting gets one answer, of the newest state", async () => {
  using bench = new Bench();
  for (let i = 0; i < 1000; i++) bench.say("");
  await settle();
  bench.publish(1);
  await settle();
  assertEquals([bench.answers, bench.paced], [0, 1]);
  bench.publish(2);
  await bench.clock.pass(500);
  assertEquals(bench.answers, 1);
  assertEquals(bench.last().resources[0]!.metadata!.version, "2");
  bench.say(bench.last().nonce);
  await bench.clock.pass(60_000);
  assertEquals(bench.answers, 1);
});

Deno.test("pacing: a sink that refuses every change waits after a burst, and gets the newest then", async () => {
  using bench = new Bench();
  bench.say("");
  await settle();
  for (let version = 1; version <= 100; version++) {
    bench.say(bench.last().nonce, true);
    bench.publish(version);
    await settle();
  }
  const burst = bench.answers;
  assert(burst <= 22, `${burst} answers at once`);
  await bench.clock.pass(1000);
  assertEquals(bench.answers, burst + 1, "it answers no more, so there is one");
  assertEquals(bench.last().resources[0]!.metadata!.version, "100");
});

Deno.test("pacing: a sink that ACKs 2,000 changes in a row, each at once, waits for none", async () => {
  using bench = new Bench();
  bench.say("");
  await settle();
  for (let version = 1; version <= 2000; version++) {
    bench.say(bench.last().nonce);
    bench.publish(version);
    await turnsUntil(() => bench.answers > version);
    assertEquals(bench.answers, version + 1);
  }
  assertEquals(bench.paced, 0);
});

Deno.test("pacing: a sink that opens many collections, each once, waits for none", async () => {
  using bench = new Bench();
  for (let i = 0; i < 100; i++) bench.say("", false, `collection/${i}`);
  await turnsUntil(() => bench.answers === 100);
  assertEquals([bench.answers, bench.paced], [100, 0]);
});

Deno.test("pacing: a stream that ends while answers wait leaves nothing behind", async () => {
  using bench = new Bench();
  for (let i = 0; i < 100; i++) bench.say("");
  await settle();
  bench.stream.leave();
  await bench.clock.pass(5000);
  assertEquals(bench.answers, 0);
});
