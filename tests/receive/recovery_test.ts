import { assertEquals } from "@std/assert";
import type { Finding } from "../../lib/model/finding.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { MemorySourceStore } from "../../lib/receive/memory_source_store.ts";
import { RECOVERED } from "../../lib/receive/recovery.ts";
import { Sources } from "../../lib/receive/sources.ts";
import { type Collections, Parts } from "../../lib/rollout/parts.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { resource } from "../snapshot/snapshots.ts";

function collections(...names: string[]): Collections {
  const all = names.map((name) => resource(name, "x"));
  return new Map([["ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, all)]]);
}

/** What is in effect by source after a start that finds these names of one source, and serves `served`. */
async function started(
  stored: readonly string[] | undefined,
  served: Collections,
  rules: readonly string[] = [],
): Promise<Record<string, string[]>> {
  const findings = rules.map((rule): Finding => ({ severity: "warning", rule, message: "…" }));
  const set = { collections: collections(...stored ?? []), told: new Map() };
  const seed = stored === undefined ? [] : [{ name: "edge", set, firstSeen: 0 }];
  const parts = new Parts({ held: () => {}, released: () => {} });
  const effect: Record<string, string[]> = {};
  await using sources = new Sources({
    store: new MemorySourceStore({ seed, findings }),
    clock: new FakeClock(),
    onEvent: () => {},
    allowed: () => {},
    offer: (name, given) => {
      effect[name] = Array.from(given?.get("ServiceEntry") ?? [], (one) => one.name);
      return parts.offer(name, given, { limit: 1, since: 0 });
    },
  });
  await sources.load(served);
  return effect;
}

Deno.test("recovery: what a source took back before the process was killed is not served for ever", async () => {
  // The set was saved, and the process killed before the snapshot without a/gone was.
  assertEquals(await started(["a/x"], collections("a/x", "a/gone")), { edge: ["a/x"] });
  const unfinished = ["store/unfinished", "store/leftover"];
  assertEquals(await started(["a/x"], collections("a/x", "a/gone"), unfinished), {
    edge: ["a/x"],
  });
});

Deno.test("recovery: what a set that is damaged may have held goes on being served", async () => {
  for (const rule of ["store/damaged", "store/newer", "store/unreadable", "store/unwritable"]) {
    assertEquals(await started(["a/x"], collections("a/x", "b/y"), [rule]), {
      edge: ["a/x"],
      [RECOVERED]: ["b/y"],
    });
  }
});

Deno.test("recovery: where no set is stored at all, all that was served is kept", async () => {
  assertEquals(await started(undefined, collections("a/x")), { [RECOVERED]: ["a/x"] });
});
