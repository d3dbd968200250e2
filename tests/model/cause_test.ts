import { assertEquals } from "@std/assert";
import { type Cause, MAX_CAUSES, mergeCauses } from "../../lib/model/cause.ts";

const file = (n: number): Cause => ({ kind: "file", name: `${n}.yaml`, what: "changed" });

Deno.test("causes: those of two changes that go out as one are each named once", () => {
  assertEquals(mergeCauses([file(1)], [file(1), file(2)]), [file(1), file(2)]);
  assertEquals(mergeCauses([], [file(1)]), [file(1)]);
  assertEquals(mergeCauses([file(1)], []), [file(1)]);
});

Deno.test("causes: beyond a bound they are counted", () => {
  const many = Array.from({ length: MAX_CAUSES + 5 }, (_, n) => file(n));
  const merged = mergeCauses([], many);
  assertEquals(merged.length, MAX_CAUSES + 1);
  assertEquals(merged.at(-1), { kind: "more", count: 5 });
  assertEquals(mergeCauses(merged, [file(1), file(-1)]).at(-1), { kind: "more", count: 6 });
});
