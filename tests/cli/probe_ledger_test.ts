import { assertEquals } from "@std/assert";
import { ProbeLedger } from "../../lib/cli/probe_ledger.ts";
import type { ProbedPush } from "../../lib/cli/probe_push.ts";
import { xdsType, type XdsTypeName } from "../../lib/model/xds_type.ts";

const url = (type: XdsTypeName) => xdsType(type).typeUrl;
const EDS = url("ClusterLoadAssignment");
const CDS = url("Cluster");

function push(
  type: string,
  names: readonly string[],
  extra: Partial<ProbedPush> = {},
): ProbedPush {
  const any = { typeUrl: type, value: new Uint8Array() };
  const content = { kind: "any", any } as const;
  const resources = names.map((name) => ({ name, version: "", content }));
  return { type, version: "1", nonce: "n", incremental: false, resources, removed: [], ...extra };
}

Deno.test("probe ledger: a type asked for whole is answered by any push", () => {
  const ledger = new ProbeLedger([{ typeUrl: "a" }, { typeUrl: "b" }]);
  ledger.take(push("a", []), false);
  assertEquals(ledger.standing(), { asked: 2, answered: 1, missing: ["b"], absent: [] });
  ledger.take(push("other", ["x"]), false);
  assertEquals(ledger.standing().missing, ["b"]);
});

Deno.test("probe ledger: endpoints may come a few at a time, and are missing until they came", () => {
  const ledger = new ProbeLedger([{ typeUrl: EDS, names: ["a", "b"] }]);
  assertEquals(ledger.standing().missing, ["EDS a", "EDS b"]);
  ledger.take(push(EDS, ["a"]), false);
  assertEquals(ledger.standing(), { asked: 1, answered: 0, missing: ["EDS b"], absent: [] });
  ledger.take(push(EDS, ["b"]), false);
  assertEquals(ledger.standing(), { asked: 1, answered: 1, missing: [], absent: [] });
});

Deno.test("probe ledger: a whole answer of clusters says by silence what is not there", () => {
  const ledger = new ProbeLedger([{ typeUrl: CDS, names: ["a", "b"] }]);
  ledger.take(push(CDS, ["a"]), false);
  assertEquals(ledger.standing(), { asked: 1, answered: 0, missing: [], absent: ["CDS b"] });
  ledger.take(push(CDS, ["a", "b"]), false);
  assertEquals(ledger.standing().answered, 1);
  ledger.take(push(CDS, ["b"]), false);
  assertEquals(ledger.standing().absent, ["CDS a"]);
});

Deno.test("probe ledger: a difference says what is gone, and is silent on the rest", () => {
  const ledger = new ProbeLedger([{ typeUrl: CDS, names: ["a", "b"] }]);
  ledger.take(push(CDS, ["a"], { incremental: true }), false);
  assertEquals(ledger.standing().missing, ["CDS b"]);
  ledger.take(push(CDS, [], { incremental: true, removed: ["b", "a"] }), false);
  assertEquals(ledger.standing(), {
    asked: 1,
    answered: 0,
    missing: [],
    absent: ["CDS a", "CDS b"],
  });
});

Deno.test("probe ledger: names that are found are asked for from then on, those let go no longer", () => {
  const ledger = new ProbeLedger([{ typeUrl: EDS, names: [] }]);
  assertEquals(ledger.standing(), { asked: 0, answered: 0, missing: [], absent: [] });
  ledger.rename(new Map([[EDS, ["a"]], ["other", ["x"]]]));
  assertEquals(ledger.standing(), { asked: 1, answered: 0, missing: ["EDS a"], absent: [] });
  ledger.take(push(EDS, ["a"]), false);
  ledger.rename(new Map([[EDS, ["a", "b"]]]));
  assertEquals(ledger.standing().missing, ["EDS b"]);
  ledger.rename(new Map([[EDS, []]]));
  assertEquals(ledger.standing(), { asked: 0, answered: 0, missing: [], absent: [] });
});

Deno.test("probe ledger: of what is refused nothing more is waited for, until it is accepted", () => {
  const ledger = new ProbeLedger([{ typeUrl: EDS, names: ["a", "b"] }]);
  ledger.take(push(EDS, ["a"]), true);
  assertEquals(ledger.standing(), { asked: 1, answered: 1, missing: [], absent: [] });
  ledger.take(push(EDS, ["a"]), false);
  assertEquals(ledger.standing().missing, ["EDS b"]);
});
