/**
 * Transitions over random schedules of publications, delays, refusals and lost streams: whatever
 * happens, a route that a client holds leads to a cluster that has its endpoints.
 */
import { assert } from "@std/assert";
import fc from "fast-check";
import type { ClientKind } from "../../lib/model/settings.ts";
import { XDS_TYPES, xdsTypeByUrl, type XdsTypeName } from "../../lib/model/xds_type.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import type { Resolver, ServedType } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { StreamMachine } from "../../lib/protocol/stream.ts";
import { type Config, EnvoyWorld, type Happening } from "./envoy_world.ts";
import { xdsResolverOf } from "./fixtures.ts";
import { type EnvoyRequest, ModelEnvoy } from "./model_envoy.ts";
import { ModelGrpc } from "./model_grpc.ts";

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

/** Configurations as a gRPC client has them: its listener is always there, and a cluster is of one kind for ever. */
const callable: fc.Arbitrary<Config> = config
  .filter(({ LDS }) => LDS["l"] !== undefined)
  .map(({ CDS, LDS, RDS }) => {
    const kinds = Object.entries(CDS).map(([name, version]) => {
      const kind = name === "d" ? "dns" : "eds";
      return [name, `${kind}${version.slice(3)}`] as const;
    });
    const EDS = kinds.filter(([name]) => name !== "d").map(([name]) => [name, "#1"]);
    return { CDS: Object.fromEntries(kinds), EDS: Object.fromEntries(EDS), LDS, RDS };
  });

const plain = (what: "write" | "to server" | "reconnect" | "expire" | "rest") =>
  fc.constant<Happening>({ do: what });
const toClient = (accept: boolean) => fc.constant<Happening>({ do: "to client", accept });

/** Of what goes wrong. */
type Trouble = "none" | "lost streams" | "all";

/** What happens often, and how often a client refuses and time runs out. */
function schedules(config: fc.Arbitrary<Config>, trouble: Trouble): fc.Arbitrary<Happening[]> {
  const publish = config.map((one): Happening => ({ do: "publish", config: one }));
  const happening = fc.oneof(
    { arbitrary: publish, weight: 3 },
    { arbitrary: plain("write"), weight: 8 },
    { arbitrary: plain("to server"), weight: 8 },
    { arbitrary: toClient(true), weight: 8 },
    { arbitrary: plain("rest"), weight: 1 },
    ...(trouble === "none" ? [] : [{ arbitrary: plain("reconnect"), weight: 1 }]),
    ...(trouble !== "all" ? [] : [
      { arbitrary: toClient(false), weight: 1 },
      { arbitrary: plain("expire"), weight: 1 },
    ]),
  );
  const begin = config.map((one): Happening[] => [{ do: "publish", config: one }, { do: "rest" }]);
  return fc.tuple(begin, fc.array(happening, { maxLength: 80, size: "max" }))
    .map(([first, rest]) => [...first, ...rest, { do: "rest" }]);
}

/** Clients, and the machine of each. */
const CLIENTS = {
  "Envoy, sotw": { kind: "envoy", machine: SotwMachine, client: () => new ModelEnvoy("sotw") },
  "Envoy, delta": { kind: "envoy", machine: DeltaMachine, client: () => new ModelEnvoy("delta") },
  "gRPC": { kind: "grpc", machine: SotwMachine, client: () => new ModelGrpc() },
} as const;

type Name = keyof typeof CLIENTS;

function property(name: Name, trouble: Trouble, change?: Change) {
  const { kind, machine: Made, client } = CLIENTS[name];
  const resolver = change === undefined ? xdsResolverOf(kind) : faulty(kind, change);
  const make = (prefix: string) =>
    new Made({ prefix, resolver }) as StreamMachine<unknown> as StreamMachine<EnvoyRequest>;
  return fc.property(schedules(kind === "grpc" ? callable : config, trouble), (happenings) => {
    const world = new EnvoyWorld(client(), make, { says: trouble === "lost streams" });
    for (const happening of happenings) world.step(happening);
  });
}

type Change = (type: ServedType) => Partial<ServedType>;

/** A resolver with a fault. */
function faulty(kind: ClientKind, change: Change): Resolver {
  const sound = xdsResolverOf(kind);
  return {
    resolve(typeUrl) {
      const found = sound.resolve(typeUrl);
      if (found.kind === "unsupported") return found;
      return { kind: "served", type: { ...found.type, ...change(found.type) } };
    },
  };
}

const without = (type: XdsTypeName): Change => ({ xds }) =>
  xds === type ? { xds: undefined as never } : {};

const FAULTS: Readonly<Record<string, Change>> = {
  "without transitions": () => ({ xds: undefined as never }),
  "without transitions of clusters": without("Cluster"),
  "without transitions of endpoints": without("ClusterLoadAssignment"),
  "without transitions of routes": without("RouteConfiguration"),
  "without transitions of listeners": without("Listener"),
  "without renewed endpoints": () => ({ renews: undefined as never }),
};

/** Of a client that names what it wants, routes need not wait, nor need it be sent endpoints again. */
const HARMLESS: Readonly<Partial<Record<Name, readonly string[]>>> = {
  "gRPC": [
    "without transitions of endpoints",
    "without transitions of routes",
    "without transitions of listeners",
    "without renewed endpoints",
  ],
};

for (const name of Object.keys(CLIENTS) as Name[]) {
  Deno.test(`transitions, ${name}: over random schedules a client that answers never has a route that leads nowhere`, () => {
    fc.assert(property(name, "none"), { numRuns: RUNS });
  });

  Deno.test(`transitions, ${name}: the same with refusals, lost streams and time that runs out, as far as these allow`, () => {
    fc.assert(property(name, "all"), { numRuns: RUNS });
  });

  for (const [fault, change] of Object.entries(FAULTS)) {
    if (HARMLESS[name]?.includes(fault)) continue;
    Deno.test(`transitions, ${name}: an engine ${fault} is found out`, () => {
      const { failed } = fc.check(property(name, "none", change), { numRuns: 1000 });
      assert(failed, "no schedule showed the fault");
    });
  }
}

Deno.test("transitions, Envoy, delta: nor has one that loses its streams and says what it held", () => {
  fc.assert(property("Envoy, delta", "lost streams"), { numRuns: RUNS });
});

Deno.test("transitions: every type has a part in them", () => {
  for (const { typeUrl, name } of XDS_TYPES) {
    const found = xdsResolverOf("envoy").resolve(typeUrl);
    assert(found.kind === "served" && found.type.xds === name);
    assert(xdsTypeByUrl(typeUrl) !== undefined);
  }
});
