import { assertEquals, assertMatch } from "@std/assert";
import { LatestNews } from "../../lib/cli/latest_news.ts";
import { logPublisher } from "../../lib/cli/publish_log.ts";
import type { Cause } from "../../lib/model/cause.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";
import { bench } from "./log_bench.ts";

Deno.test("log: what was published comes with its files, sources and names", () => {
  const { log, lines } = bench();
  using news = new LatestNews();
  const say = logPublisher(log, news);
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

Deno.test("log: a source that is held back again and again is said once in a while, the last always", async () => {
  const { log, lines } = bench();
  const clock = new FakeClock();
  using news = new LatestNews({ clock });
  const say = logPublisher(log, news);
  const verdict = { pass: false, removed: 20, of: 30, limit: 0.5 } as const;
  say({ kind: "held", id: "own", verdict });
  for (let i = 0; i < 100; i++) {
    say({ kind: "held", id: `h${i}`, part: "edge", verdict });
    if (i < 99) say({ kind: "released", id: `h${i}`, part: "edge", why: "replaced" });
  }
  say({ kind: "held", id: "own", verdict });
  assertEquals(lines.length, 6);
  await clock.advance(10_000);
  assertEquals(lines.length, 7);
  assertMatch(lines[6]!, /held back: .*id=h99 source=edge .*snapshots confirm h99" unsaid=194$/);
});
