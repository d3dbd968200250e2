import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Judgement } from "../../lib/receive/received.ts";
import type { SourceConnection } from "../../lib/receive/registry.ts";
import { MemorySourceStore } from "../../lib/receive/memory_source_store.ts";
import { MAX_SOURCES } from "../../lib/receive/source_store.ts";
import { Sources } from "../../lib/receive/sources.ts";
import { Parts } from "../../lib/rollout/parts.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { resource } from "../snapshot/snapshots.ts";

const SIGNAL = new AbortController().signal;

/** An incremental push of resources of about 200 bytes each. */
function push(
  names: readonly string[],
  removed: readonly string[] = [],
): Extract<Judgement, { kind: "accepted" }> {
  const type = "istio/networking/v1alpha3/serviceentries";
  return {
    kind: "accepted",
    head: { type, nonce: "n", version: "v", incremental: true },
    kindName: "ServiceEntry",
    resources: names.map((name) => ({ resource: resource(name, "x".repeat(200)), told: "1" })),
    removed,
    findings: [],
  };
}

function registry({ guard = 1, mostBytes }: { guard?: number; mostBytes?: number } = {}) {
  const parts = new Parts({ held: () => {}, released: () => {} });
  const offered = new Map<string, number>();
  const sources = new Sources({
    store: new MemorySourceStore(),
    clock: new FakeClock(),
    onEvent: () => {},
    allowed: () => {},
    pause: () => ({ [Symbol.dispose]: () => {} }),
    ...(mostBytes === undefined ? {} : { mostBytes }),
    offer: (name, collections, { trusted = false }) => {
      const limit = trusted ? 1 : guard;
      const verdict = parts.offer(name, collections, { limit, since: 0 });
      if (verdict === "accepted") offered.set(name, collections?.get("ServiceEntry")?.size ?? 0);
      return verdict;
    },
  });
  const receive = { address: "a", insecure: true, from: [], tokens: {}, merge: "refuse" } as const;
  sources.configure({ receive: { ...receive, collections: [] }, pull: [] });
  return { sources, offered };
}

function connect(sources: Sources, name: string): SourceConnection {
  const connected = sources.connect({ name, address: "127.0.0.1", end: () => {} });
  assert(typeof connected.refused !== "string", "it is let in");
  return connected as SourceConnection;
}

Deno.test("sources: whoever tries many names keeps nobody out, and no set is lost for it", async () => {
  const { sources, offered } = registry({ guard: 0.5 });
  await using _ = sources;
  const giver = connect(sources, "giver");
  await giver.take(push(["a/x"]), SIGNAL);
  giver[Symbol.dispose]();
  // What is held back was given all the same, although what it gave last is nothing.
  const many = Array.from({ length: 30 }, (_, i) => `b/${i}`);
  const emptied = connect(sources, "emptied");
  await emptied.take(push(many), SIGNAL);
  await emptied.take(push([], many), SIGNAL);
  emptied[Symbol.dispose]();
  for (let i = 0; i < 2 * MAX_SOURCES; i++) connect(sources, `try-${i}`)[Symbol.dispose]();
  const known = sources.status();
  assertEquals(known.length, MAX_SOURCES);
  assert(["giver", "emptied"].every((name) => known.some((one) => one.name === name)));
  assertEquals([offered.get("giver"), offered.get("emptied")], [1, 30]);
});

Deno.test("sources: a bound on sources that are connected or gave something stays", async () => {
  const { sources } = registry();
  await using _ = sources;
  for (let i = 0; i < MAX_SOURCES; i++) connect(sources, `edge-${i}`);
  const more = sources.connect({ name: "more", address: "127.0.0.1", end: () => {} });
  assertMatch(String(more.refused), /1000 sources already/);
});

Deno.test("sources: what a source adds up to is bounded; it is told, and may give less", async () => {
  const { sources, offered } = registry({ mostBytes: 1000 });
  await using _ = sources;
  const edge = connect(sources, "edge");
  assertEquals(await edge.take(push(["a/1", "a/2", "a/3"]), SIGNAL), { ok: true });
  const refused = await edge.take(push(["a/4", "a/5", "a/6"]), SIGNAL);
  assert(!refused.ok);
  assertMatch(refused.message, /would be \d+ bytes, and at most 1000 are kept/);
  assertMatch(sources.status()[0]!.refused!.message, /at most 1000/);
  assertEquals(offered.get("edge"), 3, "nothing of it is taken");
  assertEquals(await edge.take(push([], ["a/3"]), SIGNAL), { ok: true });
  assertEquals(offered.get("edge"), 2);
  assertEquals(sources.status()[0]!.refused, undefined);
});
