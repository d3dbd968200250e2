import { assertEquals, assertRejects } from "@std/assert";
import { Reloader, type ReloadState } from "../../lib/cli/reloader.ts";
import type { LoadResult } from "../../lib/config/messages.ts";
import type { Finding } from "../../lib/model/finding.ts";

const finding = (line?: number): Finding => ({
  severity: "error",
  rule: "config/x",
  message: "bad",
  position: { file: "p.yaml", ...(line === undefined ? {} : { line }) },
});

function result(id: number, full: boolean): LoadResult {
  return {
    kind: "loaded",
    id,
    ok: false,
    usable: true,
    full,
    findings: [finding()],
    kept: [],
    changes: [],
    causes: [],
    watch: [],
    stats: { files: 1, filesParsed: 1, services: 0, parseMs: 0, totalMs: 0 },
  };
}

/** A reloader over a loader whose loads end when the test says so. */
class Bench {
  readonly loads: ((id: number) => void)[] = [];
  readonly taken: { full: boolean; changedAt: number }[] = [];
  readonly states: ReloadState[] = [];
  refuse: Error | undefined;
  readonly reloader = new Reloader({
    loader: {
      load: ({ full = false } = {}) =>
        new Promise((resolve) => this.loads.push((id) => resolve(result(id, full)))),
    },
    publisher: {
      take: (_, { full = false, changedAt }) => {
        const refuse = this.refuse;
        this.refuse = undefined;
        if (refuse !== undefined) throw refuse;
        this.taken.push({ full, changedAt });
      },
    },
    now: () => 7,
    onLoaded: (_, state) => void this.states.push(state),
  });
}

Deno.test("reloader: lines that come after their load are taken, those of an older one are not", async () => {
  const { reloader, loads, states } = new Bench();
  const first = reloader.reload(1);
  loads[0]!(1);
  await first;
  assertEquals(states.map(({ findings }) => findings), [[finding()]]);
  assertEquals(reloader.place(1, [finding(3)]), true);
  assertEquals(reloader.state?.findings, [finding(3)]);
  const second = reloader.reload(2);
  loads[1]!(2);
  await second;
  assertEquals(reloader.place(1, [finding(3)]), false);
  assertEquals(reloader.state?.findings, [finding()]);
});

Deno.test("reloader: lines that overtake their load are not lost", async () => {
  const { reloader, loads, states } = new Bench();
  const load = reloader.reload(1);
  loads[0]!(1);
  assertEquals(reloader.place(1, [finding(3)]), false); // the load is still on its way
  await load;
  assertEquals(states.map(({ findings }) => findings), [[finding(3)]]);
});

Deno.test("reloader: what asks during a load becomes one further load, with the earliest time", async () => {
  const { reloader, loads, taken } = new Bench();
  const all = [reloader.reload(5), reloader.reload(9), reloader.reload(8)];
  loads[0]!(1);
  while (loads.length < 2) await Promise.resolve();
  loads[1]!(2);
  await Promise.all(all);
  assertEquals(taken.map(({ changedAt }) => changedAt), [5, 8]);
  assertEquals(loads.length, 2);
});

Deno.test("reloader: changes that do not fit are loaded anew, whole; other failures are said", async () => {
  const bench = new Bench();
  const { reloader, loads, taken } = bench;
  bench.refuse = new RangeError("no such resource");
  const load = reloader.reload(5);
  loads[0]!(1);
  while (loads.length < 2) await Promise.resolve();
  loads[1]!(2);
  await load;
  assertEquals(taken, [{ full: true, changedAt: 5 }]);
  bench.refuse = new Error("odd");
  const odd = reloader.reload(6);
  loads[2]!(3);
  await assertRejects(() => odd, Error, "odd");
});
