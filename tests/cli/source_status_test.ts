import { assert, assertEquals } from "@std/assert";
import { sourceStatuses } from "../../lib/cli/source_status.ts";
import type { SourceStatus } from "../../lib/receive/source_events.ts";
import type { HeldCandidate } from "../../lib/rollout/publishing.ts";
import type { PullStatus } from "../../lib/transport/pull_link.ts";
import type { ReceivedStreamInfo } from "../../lib/transport/receiver_observer.ts";

function known(name: string, changed: Partial<SourceStatus> = {}): SourceStatus {
  return { name, state: "connected", since: 1, resources: {}, streams: 1, held: false, ...changed };
}

function stream(source: string, changed: Partial<ReceivedStreamInfo> = {}): ReceivedStreamInfo {
  return {
    key: 1,
    source,
    namedBy: "uri",
    address: "192.0.2.1:1",
    instance: undefined,
    openedAt: 5,
    bytesReceived: 0,
    collections: () => [],
    ...changed,
  };
}

function pull(url: string): PullStatus {
  const state = { kind: "waiting", retryAt: 9 } as const;
  return { url, address: "192.0.2.9:15010", state, attempts: 1, lastError: "refused", types: [] };
}

const HELD: HeldCandidate = {
  id: "h1",
  part: "edge-b",
  verdict: { pass: false, removed: 20, of: 30, limit: 0.5 },
  since: 3,
  message: "it would remove too much",
};

Deno.test("source status: each source has its own streams, pull and held set, and no other's", () => {
  const all = sourceStatuses({
    known: [known("edge-a"), known("edge-b"), known("xds://hub:1", { state: "stale" })],
    streams: [
      stream("edge-b", { address: "192.0.2.2:1" }),
      stream("edge-a"),
      stream("edge-b", { address: "192.0.2.2:2", openedAt: 6 }),
    ],
    pulls: [pull("xds://hub:1"), pull("xds://new:1")],
    held: [HELD],
  });
  const brief = all.map(({ name, via, state, address, streams, held, lastError }) => [
    [name, via, state, address, held?.id, lastError],
    streams.map(({ openedAt }) => openedAt),
  ]);
  assertEquals(brief, [
    [["edge-a", "receive", "connected", "192.0.2.1:1", undefined, undefined], [5]],
    [["edge-b", "receive", "connected", "192.0.2.2:2", "h1", undefined], [5, 6]],
    [["xds://hub:1", "pull", "stale", "192.0.2.9:15010", undefined, "refused"], []],
    [["xds://new:1", "pull", "waiting", "192.0.2.9:15010", undefined, "refused"], []],
  ]);
});

Deno.test("source status: a stream is looked at a few times, however many sources there are", () => {
  const names = Array.from({ length: 300 }, (_, i) => `edge-${i}`);
  let looked = 0;
  const streams = names.map((name) => ({
    ...stream(name),
    get source() {
      looked++;
      return name;
    },
  }));
  sourceStatuses({ known: names.map((name) => known(name)), streams, pulls: [], held: [] });
  assert(looked <= 3 * names.length, `looked ${looked} times`);
});

Deno.test("source status: what a connected source is not asked for is said", () => {
  const collections = () =>
    [
      "istio/networking/v1alpha3/serviceentries",
      "istio/networking/v1alpha3/gateways",
      "a/b/v1/c",
      "a/b/v1/d",
    ].map((collection, index) => ({
      ...{ collection, requested: index === 1, unanswered: 0, acks: 0, nacks: 0 },
      ...(index === 1 ? {} : { askedAgainAt: 9 }),
    }));
  const errorOf = (state: "connected" | "stale") =>
    sourceStatuses({
      known: [known("edge-a", { state })],
      streams: [stream("edge-a", { collections })],
      pulls: [],
      held: [],
    })[0]!.lastError;
  assertEquals(
    errorOf("connected"),
    "not asked for now: ServiceEntry, a/b/v1/c, a/b/v1/d; it ended earlier streams at these",
  );
  assertEquals(errorOf("stale"), undefined);
});
