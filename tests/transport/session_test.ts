import { assertEquals, assertMatch } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import type { Event } from "../../lib/protocol/stream.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import { mcpCodec } from "../../lib/transport/codecs.ts";
import { Sender } from "../../lib/transport/sender.ts";
import type { SessionInfo } from "../../lib/transport/session.ts";
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

function snapshotOf(...names: string[]): Snapshot {
  const empty = emptySnapshot(SETTINGS);
  const resources = names.map((name) => ({
    name,
    version: name.padEnd(16, "0").slice(0, 16),
    bytes: mcpResourceCodec.encode({ metadata: { name } }),
  }));
  const entries = Collection.of(MCP_RESOURCE_TYPE_URL, resources);
  return makeSnapshot({
    ...empty,
    collections: new Map([...empty.collections, ["ServiceEntry", entries]]),
  });
}

/** Sessions over fake streams, with everything observed written down. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly sender = new Sender({ now: () => this.clock.now() });
  readonly seen: string[] = [];
  readonly sessions = this.restart();

  /** The sessions of another run of the program. */
  restart(): Sessions {
    return new Sessions({
      targets: this.hub,
      sender: this.sender,
      clock: this.clock,
      observer: {
        ...quietObserver,
        opened: (session) => void this.seen.push(`opened ${session.address}`),
        sent: (_session, push, { bytes }) => void this.seen.push(`sent ${push.nonce} ${bytes > 0}`),
        event: (_session: SessionInfo, event: Event, latency) =>
          void this.seen.push(
            latency === undefined ? event.kind : `${event.kind} after ${latency}`,
          ),
        cut: () => void this.seen.push("cut"),
        closed: (_session, reason) => void this.seen.push(`closed ${reason}`),
      },
    });
  }

  readonly stream = new FakeStream();

  open(stream = this.stream, sessions = this.sessions) {
    const resolver = collectionResolver({ unknownCollection: "empty" });
    return sessions.open(
      stream,
      (prefix) => new McpSourceMachine({ prefix, resolver }),
      mcpCodec("mcp-source"),
    );
  }

  async ask(nonce = "", stream = this.stream): Promise<void> {
    stream.request(requestResourcesCodec.encode({
      sinkNode: { id: "pilot-1" },
      collection: COLLECTION,
      responseNonce: nonce,
    }));
    await settle();
  }

  last() {
    return resourcesCodec.decode(this.stream.written.at(-1)!);
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.sender[Symbol.dispose]();
  }
}

Deno.test("session: nothing is answered before the first publication", async () => {
  using bench = new Bench();
  bench.open();
  await bench.ask();
  assertEquals(bench.stream.written.length, 0);
  bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
  await settle();
  assertEquals(bench.last().resources.map((r) => r.metadata?.name), ["shop/a"]);
});

Deno.test("session: the latency of an ACK counts from the change, not for the first answer", async () => {
  using bench = new Bench();
  bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
  bench.open();
  await bench.ask();
  await bench.clock.pass(100);
  await bench.ask(bench.last().nonce);
  const changedAt = bench.clock.now();
  await bench.clock.pass(20);
  bench.hub.publish({ snapshot: snapshotOf("shop/a", "shop/b"), changedAt });
  await settle();
  await bench.clock.pass(30);
  await bench.ask(bench.last().nonce);
  assertEquals(bench.seen.filter((line) => line.startsWith("ack")), ["ack", "ack after 50"]);
});

Deno.test("session: the oldest push without ACK is known by its age", async () => {
  using bench = new Bench();
  bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
  const session = bench.open();
  assertEquals(session.oldestUnacked, undefined);
  await bench.ask();
  const sentAt = bench.clock.now();
  await bench.clock.pass(5000);
  assertEquals(session.oldestUnacked, sentAt);
  await bench.ask(bench.last().nonce);
  assertEquals(session.oldestUnacked, undefined);
  assertEquals(session.peer, { id: "pilot-1" });
});

Deno.test("session: a message that is none ends the stream with INVALID_ARGUMENT", async () => {
  using bench = new Bench();
  bench.open();
  bench.stream.request(Uint8Array.of(0xff, 0xff, 0xff));
  await settle();
  assertEquals(bench.stream.ended?.code, "INVALID_ARGUMENT");
  assertMatch(bench.seen.at(-1)!, /^closed not a valid request/);
  assertEquals(bench.sessions.list(), []);
});

Deno.test("session: one whose stream is over is listed and told of publications no more", async () => {
  using bench = new Bench();
  bench.open();
  await bench.ask();
  assertEquals(bench.sessions.list().length, 1);
  bench.stream.leave();
  bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
  await settle();
  assertEquals([bench.sessions.list().length, bench.stream.written.length], [0, 0]);
  assertEquals(bench.seen.at(-1), "closed undefined");
});

Deno.test("session: nonces of another run or another stream are never ours", async () => {
  const nonces: string[] = [];
  for (const later of [0, 1]) {
    using bench = new Bench();
    await bench.clock.pass(later);
    using sessions = bench.restart();
    bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
    for (const stream of [new FakeStream(), new FakeStream()]) {
      bench.open(stream, sessions);
      await bench.ask("", stream);
      nonces.push(resourcesCodec.decode(stream.written.at(-1)!).nonce);
    }
  }
  assertEquals(new Set(nonces).size, 4);
});

Deno.test("session: asking again without a change in between is no change, however late", async () => {
  using bench = new Bench();
  bench.hub.publish({ snapshot: snapshotOf("shop/a"), changedAt: bench.clock.now() });
  bench.open();
  await bench.ask();
  await bench.ask(bench.last().nonce);
  await bench.clock.pass(30_000);
  await bench.ask(); // an empty nonce opens the subscription anew
  await bench.ask(bench.last().nonce);
  assertEquals(bench.seen.filter((line) => line.startsWith("ack")), ["ack", "ack"]);
});
