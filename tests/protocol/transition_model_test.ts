/**
 * Transitions over random schedules of publications, delays, refusals and lost streams: whatever
 * happens, a route that a client holds leads to a cluster that has its endpoints.
 */
import { assert } from "@std/assert";
import fc from "fast-check";
import { XDS_TYPES, xdsTypeByUrl } from "../../lib/model/xds_type.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import type { Resolver, ServedType } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { StreamMachine } from "../../lib/protocol/stream.ts";
import { type Config, EnvoyWorld, type Happening } from "./envoy_world.ts";
import { xdsResolverOf } from "./fixtures.ts";
import { type EnvoyRequest, ModelEnvoy } from "./model_envoy.ts";

/** Schedules per test; more by hand: MODEL_RUNS=5000 deno test --allow-read --allow-env tests/protocol/transition_model_test.ts */
const RUNS = Number(Deno.env.get("MODEL_RUNS") ?? 150);

const CLUSTERS = ["a", "b", "c", "d"];
const ROUTES = ["r", "s"];
const LISTENERS = ["l", "m"];

const number = fc.integer({ min: 1, max: 2 });
const clusters = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...CLUSTERS), fc.constantFrom("eds", "eds", "dns"), number, number),
  { selector: ([name]) => name, maxLength: 3 },
);

/** Sound configurations: what is named is there. */
const config: fc.Arbitrary<Config> = clusters.chain((found) => {
  const names = found.map(([name]) => name);
  const CDS = Object.fromEntries(found.map(([name, kind, v]) => [name, `${kind}#${v}`]));
  const assigned = found.filter(([, kind]) => kind === "eds");
  const EDS = Object.fromEntries(assigned.map(([name, , , v]) => [name, `#${v}`]));
  if (names.length === 0) return fc.constant({ CDS, EDS, LDS: {}, RDS: {} });
  const listeners = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...LISTENERS), fc.constantFrom(...ROUTES), number),
    { selector: ([name]) => name, maxLength: 2 },
  );
  const targets = fc.tuple(
    ...ROUTES.map(() => fc.tuple(fc.subarray(names, { minLength: 1 }), number)),
  );
  return fc.tuple(listeners, targets).map(([all, routes]) => {
    const LDS = Object.fromEntries(all.map(([name, route, v]) => [name, `${route}#${v}`]));
    const used = ROUTES.filter((route) => all.some(([, to]) => to === route));
    const RDS = Object.fromEntries(used.map((route) => {
      const [to, v] = routes[ROUTES.indexOf(route)]!;
      return [route, `${to.join("+")}#${v}`];
    }));
    return { CDS, EDS, LDS, RDS };
  });
});

const publish: fc.Arbitrary<Happening> = config.map((one) => ({ do: "publish", config: one }));
const plain = (what: "write" | "to server" | "reconnect" | "expire" | "rest") =>
  fc.constant<Happening>({ do: what });
const toClient = (accept: boolean) => fc.constant<Happening>({ do: "to client", accept });

/** What happens often, and how often a client refuses and time runs out. */
function schedules(trouble: boolean): fc.Arbitrary<Happening[]> {
  const happening = fc.oneof(
    { arbitrary: publish, weight: 3 },
    { arbitrary: plain("write"), weight: 8 },
    { arbitrary: plain("to server"), weight: 8 },
    { arbitrary: toClient(true), weight: 8 },
    { arbitrary: plain("rest"), weight: 1 },
    ...(trouble
      ? [
        { arbitrary: toClient(false), weight: 1 },
        { arbitrary: plain("reconnect"), weight: 1 },
        { arbitrary: plain("expire"), weight: 1 },
      ]
      : []),
  );
  const begin = config.map((one): Happening[] => [{ do: "publish", config: one }, { do: "rest" }]);
  return fc.tuple(begin, fc.array(happening, { maxLength: 80, size: "max" }))
    .map(([first, rest]) => [...first, ...rest, { do: "rest" }]);
}

type Variant = "sotw" | "delta";

function machineOf(variant: Variant, resolver: Resolver) {
  return (prefix: string) => {
    const Made = variant === "sotw" ? SotwMachine : DeltaMachine;
    return new Made({ prefix, resolver }) as StreamMachine<unknown> as StreamMachine<EnvoyRequest>;
  };
}

function property(variant: Variant, trouble: boolean, resolver = xdsResolverOf("envoy")) {
  return fc.property(schedules(trouble), (happenings) => {
    const world = new EnvoyWorld(new ModelEnvoy(variant), machineOf(variant, resolver));
    for (const happening of happenings) world.step(happening);
  });
}

/** The resolver of an Envoy with a fault. */
function faulty(change: (type: ServedType) => Partial<ServedType>): Resolver {
  const sound = xdsResolverOf("envoy");
  return {
    resolve(typeUrl) {
      const found = sound.resolve(typeUrl);
      if (found.kind === "unsupported") return found;
      return { kind: "served", type: { ...found.type, ...change(found.type) } };
    },
  };
}

const FAULTS: Readonly<Record<string, (type: ServedType) => Partial<ServedType>>> = {
  "without transitions": () => ({ xds: undefined as never }),
  "without transitions of clusters": ({ xds }) =>
    xds === "Cluster" ? { xds: undefined as never } : {},
  "without transitions of routes": ({ xds }) =>
    xds === "RouteConfiguration" ? { xds: undefined as never } : {},
  "without transitions of listeners": ({ xds }) =>
    xds === "Listener" ? { xds: undefined as never } : {},
  "without renewed endpoints": () => ({ renews: undefined as never }),
  "without transitions of endpoints": ({ xds }) =>
    xds === "ClusterLoadAssignment" ? { xds: undefined as never } : {},
};

for (const variant of ["sotw", "delta"] as const) {
  Deno.test(`transitions, ${variant}: over random schedules an Envoy that answers never has a route that leads nowhere`, () => {
    fc.assert(property(variant, false), { numRuns: RUNS });
  });

  Deno.test(`transitions, ${variant}: the same with refusals, lost streams and time that runs out, as far as these allow`, () => {
    fc.assert(property(variant, true), { numRuns: RUNS });
  });

  for (const [fault, change] of Object.entries(FAULTS)) {
    Deno.test(`transitions, ${variant}: an engine ${fault} is found out`, () => {
      const { failed } = fc.check(property(variant, false, faulty(change)), { numRuns: 1000 });
      assert(failed, "no schedule showed the fault");
    });
  }
}

Deno.test("transitions: every type has a part in them", () => {
  for (const { typeUrl, name } of XDS_TYPES) {
    const found = xdsResolverOf("envoy").resolve(typeUrl);
    assert(found.kind === "served" && found.type.xds === name);
    assert(xdsTypeByUrl(typeUrl) !== undefined);
  }
});
