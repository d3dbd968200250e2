import { assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { contentHash, VERSION_LENGTH } from "../../lib/wire/hash.ts";

Deno.test("content hash: 16 hex characters that never change from release to release", () => {
  // SHA-256 of 00000001 61 00000002 c3a9, by another program.
  assertEquals(contentHash(["a", "é"]), "1c063bcc31008a2f");
  assertEquals(contentHash([]), "e3b0c44298fc1c14");
  assertEquals(contentHash(["a"]).length, VERSION_LENGTH);
});

Deno.test("content hash: text and its UTF-8 bytes are the same", () => {
  assertEquals(contentHash([new TextEncoder().encode("日本")]), contentHash(["日本"]));
});

Deno.test("content hash: two lists of parts that read alike put together differ", () => {
  const lists = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["c", "ab"], []];
  assertEquals(new Set(lists.map((list) => contentHash(list))).size, lists.length);
});

Deno.test("content hash: equal lists have equal hashes, others have others", () => {
  const list = fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(list, list, (one, other) => {
      assertEquals(contentHash(one), contentHash([...one]));
      if (JSON.stringify(one) !== JSON.stringify(other)) {
        assertNotEquals(contentHash(one), contentHash(other));
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("content hash: a part larger than what is hashed at once counts to its last byte", () => {
  const bytes = new Uint8Array(3_000_000);
  const before = contentHash([bytes]);
  bytes[bytes.length - 1] = 1;
  assertNotEquals(contentHash([bytes]), before);
});
