import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { limitedResolver } from "../../lib/protocol/limited_resolver.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";

const ENTRIES = "istio/networking/v1alpha3/serviceentries";
const RULES = "istio/networking/v1alpha3/destinationrules";

Deno.test("limited resolver: what is listed is what it was; nothing listed limits nothing", () => {
  const inner = collectionResolver({ unknownCollection: "error" });
  const limited = limitedResolver(inner, [ENTRIES]);
  const [one, other] = [limited.resolve(ENTRIES), inner.resolve(ENTRIES)];
  assertEquals(one.kind, "served");
  assertStrictEquals((one as { type: unknown }).type, (other as { type: unknown }).type);
  assertStrictEquals(limitedResolver(inner, []), inner);
});

Deno.test("limited resolver: what is not listed is empty, where unknown collections are", () => {
  const inner = collectionResolver({ unknownCollection: "empty" });
  const limited = limitedResolver(inner, [ENTRIES]);
  const [withheld, unknown] = [limited.resolve(RULES), inner.resolve("no/such/thing")];
  assertEquals(withheld.kind, "served");
  assertStrictEquals((withheld as { type: unknown }).type, (unknown as { type: unknown }).type);
});

Deno.test("limited resolver: what is not listed is an error, where unknown collections are, with what is listed", () => {
  const limited = limitedResolver(collectionResolver({ unknownCollection: "error" }), [ENTRIES]);
  const resolution = limited.resolve(RULES);
  assertEquals(resolution.kind, "unsupported");
  assertMatch(
    (resolution as { message: string }).message,
    /destinationrules" is not served to this sink; served are .*serviceentries$/,
  );
  assertEquals(limited.resolve("").kind, "unsupported");
});
