import { assertEquals, assertMatch } from "@std/assert";
import { KnownDown } from "../../lib/cli/known_down.ts";
import { logLinks, logSessions, logSummaries } from "../../lib/cli/peer_log.ts";
import { bench } from "./log_bench.ts";
import { nack, peer } from "./session_events.ts";

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

Deno.test("log: streams of a peer that end in a loop are a line in a while, and the others are counted", () => {
  const { log, lines } = bench();
  let now = 0;
  const sessions = logSessions(log, { now: () => now });
  const end = (i: number) => sessions.closed({ ...peer(i), address: `192.0.2.1:${1000 + i}` }, "x");
  for (let i = 0; i < 100; i++) end(i);
  sessions.closed({ ...peer(1), address: "192.0.2.2:1" }, "x");
  sessions.closed(peer(2));
  assertEquals(lines.length, 2);
  now = 10_000;
  end(100);
  assertMatch(lines[2]!, /stream ended .*reason=x unsaid=99$/);
});

Deno.test("log: a client that does not follow is one warning in a while, with what it was at", () => {
  const { log, lines } = bench();
  let now = 0;
  const sessions = logSessions(log, { now: () => now });
  for (let i = 0; i < 3; i++) sessions.overdue(peer(1), "clusters");
  assertEquals(lines.length, 1);
  assertMatch(lines[0]!, /^WARN .*did not follow .*phase=clusters$/);
  now = 10_000;
  sessions.overdue(peer(1), "routes");
  assertMatch(lines[1]!, /phase=routes unsaid=2$/);
});

Deno.test("log: a refusal names the identity that the peer proved", () => {
  const { log, lines } = bench();
  logSessions(log).event({ ...peer(1), identity: "spiffe://example.org/a" }, nack("a"));
  assertMatch(lines[0]!, /identity=spiffe:\/\/example\.org\/a/);
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

Deno.test("log: a sink is said to be away once, and when it is back", () => {
  const { log, lines } = bench();
  const observer = logLinks(log);
  for (let i = 0; i < 5; i++) observer.down("mesh-a", "192.0.2.1:1", "refused", 1000);
  observer.down("mesh-a", "192.0.2.2:1", "refused", 1000);
  observer.up("mesh-a", "192.0.2.1:1");
  observer.down("mesh-a", "192.0.2.1:1", "ended", 1000);
  assertEquals(lines.map((line) => /^(\S+) .*address=(\S+)/.exec(line)!.slice(1)), [
    ["WARN", "192.0.2.1:1"],
    ["WARN", "192.0.2.2:1"],
    ["INFO", "192.0.2.1:1"],
    ["WARN", "192.0.2.1:1"],
  ]);
});

Deno.test("log: replicas of a sink that went away while they were down are forgotten", () => {
  const { log } = bench();
  let now = 0;
  const down = new KnownDown(() => now);
  const observer = logLinks(log, down);
  const stays = () => observer.down("mesh-a", "192.0.2.1:1", "refused", 30_000);
  for (let i = 0; i < 5000; i++) {
    observer.down("mesh-a", `198.51.100.1:${i}`, "refused", 30_000);
    if (i % 3 === 0) stays();
    now += 10_000;
  }
  assertEquals(down.size < 100, true, `${down.size} are remembered`);
  assertEquals(down.failed("mesh-a 192.0.2.1:1", 30_000), true); // it is dialled all the time
});
