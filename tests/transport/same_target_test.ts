import { assertEquals } from "@std/assert";
import { sameTarget } from "../../lib/transport/same_target.ts";

const TARGET = {
  host: "a.example",
  port: 1,
  headers: { a: "1", b: "2" },
  collections: ["x", "y"],
  proxy: { host: "p.example", port: 2 },
};

Deno.test("same target: the order of keys does not matter, that of lists does, and so does any value", () => {
  const { host, port, ...rest } = TARGET;
  const same = (other: typeof TARGET) => sameTarget(TARGET, other);
  assertEquals(same({ ...rest, port, host, headers: { b: "2", a: "1" } }), true);
  assertEquals(same({ ...TARGET, collections: ["y", "x"] }), false);
  assertEquals(same({ ...TARGET, headers: { a: "1", b: "3" } }), false);
  assertEquals(same({ ...TARGET, proxy: { host: "p.example", port: 3 } }), false);
  const { proxy: _, ...direct } = TARGET;
  assertEquals(sameTarget<Omit<typeof TARGET, "proxy">>(TARGET, direct), false);
});
