import { assertEquals, assertMatch } from "@std/assert";
import { LatestNews } from "../../lib/cli/latest_news.ts";
import {
  logPulls,
  logReceiver,
  logSources,
  logTokenProblems,
  logUndialable,
} from "../../lib/cli/source_log.ts";
import type { ReceivedStreamInfo } from "../../lib/transport/receiver_observer.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { bench } from "./log_bench.ts";

Deno.test("log: what cannot be dialled is said once a change, not at each publication", () => {
  const { log, lines } = bench();
  const say = logUndialable(log, "sink");
  const a = { name: "mesh-a", reason: "the environment variable HOST is not set" };
  say([a]);
  say([a]);
  say([a, { name: "mesh-b", reason: "x is not host:port" }]);
  assertEquals(lines.map((line) => /sink=(\S+)/.exec(line)![1]), ["mesh-a", "mesh-b"]);
  say([{ ...a, reason: "another" }]);
  say([]);
  say([a]);
  assertEquals(lines.length, 4);
});

Deno.test("log: sources that come, go and are refused", () => {
  const { log, lines } = bench();
  using news = new LatestNews();
  const say = logSources(log, news);
  const name = "spiffe://example.org/edge";
  say({ kind: "connected", name, address: "192.0.2.1:1", instance: "edge" });
  for (let i = 0; i < 5; i++) say({ kind: "refused", name, type: "t", message: "shop/a: no host" });
  say({ kind: "pushed", name, type: "t", version: "v", resources: 3, removed: 0, held: false });
  say({ kind: "disconnected", name });
  say({ kind: "saveFailed", name, error: new Error("disk full") });
  say({ kind: "forgotten", name, why: "expired" });
  assertEquals(lines.map((line) => line.split("  ").slice(0, 3).join("|")), [
    "INFO|source|source connected",
    "WARN|source|a source's push is refused (NACK)",
    "WARN|source|source away; what it gave last stays",
    'ERROR source|what a source gave is not saved; it is served all the same|source=spiffe://example.org/edge error="disk full"',
    "INFO|source|source forgotten",
  ]);
  assertMatch(lines[1]!, /reason="shop\/a: no host"$/);
});

Deno.test("log: who is not let in as a source, and why, once in a while", () => {
  const { log, lines } = bench();
  const observer = logReceiver(log);
  for (let i = 0; i < 5; i++) observer.denied("192.0.2.1:1", "no rule of `receive.from` names it");
  assertEquals(lines.length, 1);
  assertMatch(lines[0]!, /a source is not let in .*peer=192\.0\.2\.1:1 reason="no rule/);
});

Deno.test("log: a server that we pull from is said to be away once, and when it is back", () => {
  const { log, lines } = bench();
  const observer = logPulls(log);
  for (let i = 0; i < 5; i++) observer.down("xds://hub:1", "192.0.2.1:1", "refused", 1000);
  observer.up("xds://hub:1", "192.0.2.1:1", "delta");
  observer.down("xds://hub:1", "192.0.2.1:1", "ended", 1000);
  assertEquals(lines.map((line) => line.slice(0, 5).trim()), ["WARN", "INFO", "WARN"]);
});

Deno.test("log: a token that cannot be used is said, and when it can again", () => {
  const { log, lines } = bench();
  const say = logTokenProblems(log);
  say("edge-fra", "/tokens/edge-fra is empty");
  say("edge-fra", undefined);
  assertEquals(lines, [
    'WARN  source  the source\'s token cannot be used  source=edge-fra problem="/tokens/edge-fra is empty"',
    "INFO  source  the token is as it should be again  source=edge-fra",
  ]);
});

Deno.test("log: a source that comes and goes in a loop is a line in a while, the last always", async () => {
  const { log, lines } = bench();
  const clock = new FakeClock();
  using news = new LatestNews({ clock });
  const say = logSources(log, news);
  for (let i = 0; i < 100; i++) {
    say({ kind: "connected", name: "edge", address: `192.0.2.1:${i}` });
    if (i < 99) say({ kind: "disconnected", name: "edge" });
  }
  say({ kind: "connected", name: "other", address: "192.0.2.2:1" });
  assertEquals(lines.map((line) => line.split(/ {2,}/)[2]), [
    "source connected",
    "source away; what it gave last stays",
    "source connected",
    "source away; what it gave last stays",
    "source connected",
  ]);
  await clock.advance(10_000);
  assertEquals(lines.length, 6);
  assertMatch(lines[5]!, /source connected {2}source=edge address=192\.0\.2\.1:99 unsaid=194$/);
});

Deno.test("log: streams of a source that end in a loop, and sets of its that are held back, are a line in a while", () => {
  const { log, lines } = bench();
  const observer = logReceiver(log);
  using news = new LatestNews();
  const say = logSources(log, news);
  for (let i = 0; i < 100; i++) {
    observer.closed(stream("edge", i), `reason ${i}`);
    say({ ...PUSHED, name: "edge", version: `${i}` });
  }
  observer.closed(stream("other", 100), "reason");
  assertEquals(lines.map((line) => line.split(/ {2,}/)[2]), [
    "stream ended",
    "taken, and held back: it would remove too much",
    "stream ended",
  ]);
});

Deno.test("log: what a source is not asked for is a warning, once in a while", () => {
  const { log, lines } = bench();
  const observer = logReceiver(log);
  const one = { collection: "a/b/v1/c", requested: true, unanswered: 0, acks: 0, nacks: 0 };
  observer.opened({ ...stream("edge", 1), collections: () => [one] });
  assertEquals(lines, []);
  const collections = () => [one, { ...one, collection: "a/b/v1/d", askedAgainAt: 9 }];
  for (let i = 0; i < 5; i++) observer.opened({ ...stream("edge", i), collections });
  assertEquals(lines.length, 1);
  assertMatch(lines[0]!, /^WARN .* ended earlier streams .*source=edge collections=.*a\/b\/v1\/d/);
});

const PUSHED = { kind: "pushed", type: "t", resources: 3, removed: 20, held: true } as const;

function stream(source: string, key: number): ReceivedStreamInfo {
  return {
    key,
    source,
    namedBy: "uri",
    address: `192.0.2.1:${key}`,
    instance: undefined,
    openedAt: 0,
    bytesReceived: 0,
    collections: () => [],
  };
}
