import { assertEquals } from "@std/assert";
import { corners, singleChanges } from "../interop/validation/subjects.ts";
import { agree, describe, ISTIO_RULES, judge, readCounts } from "../interop/validation/verdicts.ts";

const kept = readCounts(
  Deno.readTextFileSync(new URL("../testdata/convert/istio_verdicts.txt", import.meta.url)),
);
const subjects = [...corners(), ...singleChanges()];

Deno.test("istio rules: the verdicts kept of Istio are ours", () => {
  assertEquals(kept.length, subjects.length, "the interop test writes the verdicts anew");
  const differences = subjects.flatMap((subject, index) => {
    const ours = judge(subject);
    const istio = kept[index]!;
    return agree(istio, ours) ? [] : [describe(subject, istio, ours)];
  });
  assertEquals(differences.slice(0, 5), []);
});

Deno.test("istio rules: each one is put to the test", () => {
  const found = new Set(subjects.flatMap((subject) => judge(subject).map(({ rule }) => rule)));
  assertEquals([...found].sort(), ISTIO_RULES);
});
