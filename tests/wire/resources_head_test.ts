import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { resourcesCodec } from "../../lib/wire/messages.ts";
import { readResourcesHead } from "../../lib/wire/resources_head.ts";
import { WireError } from "../../lib/wire/wire_error.ts";

const whole = {
  systemVersionInfo: "v",
  collection: "c",
  resources: [{ metadata: { name: "shop/a", version: "1" } }, {}],
  removedResources: ["shop/b"],
  nonce: "n",
  incremental: true,
};

function byCodec(bytes: Uint8Array) {
  const { collection: type, nonce, systemVersionInfo: version, incremental } = resourcesCodec
    .decode(bytes);
  return { type, nonce, version, incremental };
}

Deno.test("resources head: gives what the codec gives, resources or none", () => {
  assertEquals(readResourcesHead(resourcesCodec.encode(whole)), {
    type: "c",
    nonce: "n",
    version: "v",
    incremental: true,
  });
  assertEquals(readResourcesHead(new Uint8Array()), {
    type: "",
    nonce: "",
    version: "",
    incremental: false,
  });
});

Deno.test("resources head: whatever bytes the codec takes for a push have the same head here", () => {
  const encoded = resourcesCodec.encode(whole);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.array(fc.tuple(fc.nat(encoded.length - 1), fc.nat(255)), { maxLength: 3 }).map((changes) => {
      const changed = encoded.slice();
      for (const [at, byte] of changes) changed[at] = byte;
      return changed;
    }),
    fc.array(fc.constantFrom(0x0a, 0x12, 0x2a, 0x30, 0x32, 0x08, 0x01, 0x00, 0x41)).map((list) =>
      Uint8Array.from(list)
    ),
  );
  let taken = 0;
  fc.assert(
    fc.property(bytes, (bytes) => {
      let expected;
      try {
        expected = byCodec(bytes);
      } catch {
        return;
      }
      taken++;
      assertEquals(readResourcesHead(bytes), expected);
    }),
    { numRuns: 3000 },
  );
  assert(taken > 300, `${taken}`);
});

Deno.test("resources head: what is no message is refused, and so is what has too many fields for its size", () => {
  for (const bytes of [[0x0a, 0xff], [0x0f], [0xff, 0xff, 0xff], [0x12, 0x05, 0x41]]) {
    assertThrows(() => readResourcesHead(Uint8Array.from(bytes)), WireError, "not a push");
  }
  const empty = Uint8Array.from({ length: 200_000 }, (_, i) => i % 2 === 0 ? 0x1a : 0);
  assertThrows(() => readResourcesHead(empty), WireError, "too many fields");
  readResourcesHead(empty.subarray(0, 20_000));
});
