import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { hasLabels, honoursDrain, isWithin, prioritiesOf } from "../../lib/model/in_service.ts";
import type { Endpoint } from "../../lib/model/service.ts";

const endpoint = (parts: Partial<Endpoint> = {}): Endpoint => ({
  address: "10.0.0.1",
  ports: {},
  labels: {},
  network: "",
  locality: "",
  serviceAccount: "",
  ...parts,
});

Deno.test("in service: drains count as long as enough endpoints do not", () => {
  const of = (staying: number, draining: number, minHealthy?: number) =>
    honoursDrain({
      endpoints: [
        ...Array.from({ length: staying }, () => endpoint()),
        ...Array.from({ length: draining }, () => endpoint({ drain: true })),
      ],
      ...(minHealthy === undefined ? {} : { minHealthy }),
    });
  assertEquals([of(1, 9), of(0, 1), of(0, 0)], [true, false, false]);
  assertEquals([of(1, 1, 0.5), of(1, 2, 0.5), of(2, 0, 1), of(9, 1, 1)], [
    true,
    false,
    true,
    false,
  ]);
  assertEquals(of(0, 2, 0), false);
});

Deno.test("in service: a locality is within another by whole segments", () => {
  assertEquals(isWithin("eu/fra/a", "eu/fra"), true);
  assertEquals(isWithin("eu/fra", "eu/fra"), true);
  assertEquals(isWithin("eu", "eu/fra"), false);
  assertEquals(isWithin("eu/frankfurt", "eu/fra"), false);
  assertEquals(isWithin("europe", "eu"), false);
  assertEquals(isWithin("", "eu"), false);
});

Deno.test("in service: priorities go by the first locality that holds, without gaps", () => {
  const of = (localities: readonly string[], failover?: readonly string[]) =>
    prioritiesOf(localities.map((locality) => ({ locality })), failover);
  assertEquals(of(["eu/fra/a", "eu/ams", "us", ""], ["eu/fra", "eu"]), [0, 1, 2, 2]);
  assertEquals(of(["us", "eu/ams"], ["eu/fra", "ap", "eu"]), [1, 0]);
  assertEquals(of(["us", "eu"]), [0, 0]);
  assertEquals(of([], ["eu"]), []);
  const locality = fc.constantFrom("eu", "eu/fra", "eu/fra/a", "us", "us/nyc", "ap", "");
  fc.assert(fc.property(fc.array(locality), fc.uniqueArray(locality), (localities, failover) => {
    const found = of(localities, failover.filter(Boolean));
    const distinct = [...new Set(found)].sort((a, b) => a - b);
    assertEquals(distinct, distinct.map((_, index) => index));
  }));
});

Deno.test("in service: an endpoint has labels if it has all of them", () => {
  const one = endpoint({ labels: { a: "1", b: "2" } });
  assertEquals([{}, { a: "1" }, { b: "2", a: "1" }].map((l) => hasLabels(one, l)), [
    true,
    true,
    true,
  ]);
  assertEquals([{ a: "2" }, { c: "" }, { a: "1", c: "3" }].map((l) => hasLabels(one, l)), [
    false,
    false,
    false,
  ]);
});
