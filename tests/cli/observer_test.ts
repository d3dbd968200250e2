import { assertEquals, assertMatch } from "@std/assert";
import { logListeners, logPublisher, logSessions, logSummaries } from "../../lib/cli/observer.ts";
import {
  logPulls,
  logReceiver,
  logSources,
  logTokenProblems,
  logUndialable,
} from "../../lib/cli/source_observer.ts";
import { Log } from "../../lib/log.ts";
import type { Cause } from "../../lib/model/cause.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";
import { nack, peer } from "./session_events.ts";

/** A log whose lines are kept, without their times. */
function bench(level: "debug" | "info" = "info") {
  const lines: string[] = [];
  const sink = (line: string) => void lines.push(line.replace(/^\S+ /, "").trimEnd());
  return { log: new Log({ level, format: "text", sink }), lines };
}

Deno.test("log: a peer that refuses in a loop is one warning a type, and the others are counted", () => {
  const { log, lines } = bench();
  let now = 0;
  const sessions = logSessions(log, { now: () => now });
  for (let i = 0; i < 100; i++) {
    // It may come back each time.
    const session = { ...peer(i), address: `192.0.2.1:${1000 + i}` };
    sessions.event(session, nack("a", `because ${i}`));
  }
  sessions.event(peer(1), nack("b"));
  sessions.event({ ...peer(2), address: "192.0.2.2:1" }, nack("a"));
  assertEquals(lines.length, 3);
  assertMatch(lines[0]!, /refused by the peer \(NACK\).*type=a .*reason="because 0"/);
  now = 10_000;
  sessions.event(peer(1), nack("a"));
  assertMatch(lines[3]!, /type=a .*unsaid=99/);
});

Deno.test("log: a refusal names the identity that the peer proved", () => {
  const { log, lines } = bench();
  logSessions(log).event({ ...peer(1), identity: "spiffe://example.org/a" }, nack("a"));
  assertMatch(lines[0]!, /identity=spiffe:\/\/example\.org\/a/);
});

Deno.test("log: what was published comes with its files, sources and names", () => {
  const { log, lines } = bench();
  const say = logPublisher(log);
  const before = snapshotOf({ "a/1": "x", "a/2": "x", "a/3": "x", "a/4": "x" });
  const snapshot = snapshotOf({ "a/1": "y", "a/5": "x" });
  const files = ["p.yaml", "q.yaml", "r.yaml", "s.yaml", "t.yaml"].map((name): Cause => ({
    kind: "file",
    name,
    what: name === "q.yaml" ? "removed" : "changed",
  }));
  const causes: Cause[] = [...files, { kind: "source", name: "edge-2" }, { kind: "settings" }];
  const publication = { snapshot, changedAt: 0, causes };
  say({ kind: "published", publication, before, save: "saved" });
  assertMatch(lines[0]!, /services=2 changed="\+1 ~1 -3: a\/1, a\/5, a\/2 and 2 more"/);
  assertMatch(lines[0]!, /files="p\.yaml, q\.yaml \(removed\), r\.yaml and 2 more"/);
  assertMatch(lines[0]!, /sources=edge-2 why=settings save=saved$/);
  say({ kind: "published", publication: { ...publication, causes: [] }, save: "saved" });
  assertMatch(lines[1]!, /services=2 save=saved$/);
});

Deno.test("log: a change that goes unanswered is a warning, all answered is none", () => {
  const { log, lines } = bench();
  const say = logSummaries(log);
  say({ acks: 3, nacks: 0, lost: 0, waiting: 1, late: false, slowest: 12.4 });
  say({ acks: 0, nacks: 0, lost: 1, waiting: 0, late: true, slowest: 0 });
  say({ acks: 4, nacks: 0, lost: 0, waiting: 0, late: false, slowest: 9 });
  assertEquals(lines, [
    "WARN  peer  the change goes unanswered by some peers  acks=3 waiting=1 ms=12",
    "INFO  peer  the peers that were waited for have answered or are gone  acks=0 lost=1 ms=0",
    "INFO  peer  every peer has answered the change  acks=4 ms=9",
  ]);
});

Deno.test("log: a connection refused for its identity names it, each identity once in a while", () => {
  const { log, lines } = bench();
  const hooks = logListeners(log);
  for (let i = 0; i < 5; i++) {
    hooks.refused?.("allow", "192.0.2.1", "spiffe://example.org/a is not allowed");
    hooks.refused?.("allow", "192.0.2.1", "spiffe://example.org/b is not allowed");
    hooks.refused?.("handshake", "192.0.2.1", `garbage ${i}`);
    hooks.refused?.("deadline", "192.0.2.1");
  }
  assertEquals(lines, [
    'WARN  listener  connection refused  reason=allow peer=192.0.2.1 detail="spiffe://example.org/a is not allowed"',
    'WARN  listener  connection refused  reason=allow peer=192.0.2.1 detail="spiffe://example.org/b is not allowed"',
    'WARN  listener  connection refused  reason=handshake peer=192.0.2.1 detail="garbage 0"',
  ]);
});

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
  const say = logSources(log);
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
