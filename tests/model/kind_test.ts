import { assertEquals } from "@std/assert";
import { isTrigger, KINDS, TRIGGER_COLLECTION } from "../../lib/model/kind.ts";

Deno.test("kind: a trigger is what names the trigger's collection or none, and no kind's", () => {
  for (const collection of [TRIGGER_COLLECTION, ""]) assertEquals(isTrigger(collection), true);
  for (const { collection } of KINDS) assertEquals(isTrigger(collection), false, collection);
});
