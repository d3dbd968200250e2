import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { encodeResource } from "../../lib/convert/encode_resource.ts";
import { toServiceEntry } from "../../lib/convert/service_entry.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { Service } from "../../lib/model/service.ts";
import { ORIGINS_ANY_TYPE, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { Catalogues } from "../../lib/view/catalogue.ts";
import type { Catalogue } from "../../lib/view/served_service.ts";
import { PLAIN_TRAFFIC } from "../../lib/view/traffic_rules.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import {
  type DestinationRule,
  destinationRuleCodec,
  type Partially,
  serviceEntryCodec,
  type VirtualService,
  virtualServiceCodec,
  type WorkloadEntry,
  workloadEntryCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { anEndpoint, aService } from "./services.ts";

/** What a snapshot of these tests is made of. */
interface World {
  /** Our own: in the snapshot as a record and as a ServiceEntry. */
  readonly own?: readonly Service[];
  /** Other sources': as ServiceEntries alone, with their origin. */
  readonly foreign?: readonly Service[];
  readonly virtual?: Readonly<Record<string, Partially<VirtualService>>>;
  readonly rules?: Readonly<Record<string, Partially<DestinationRule>>>;
  readonly workloads?: Readonly<Record<string, Partially<WorkloadEntry>>>;
  readonly namespace?: string;
}

function metadataOf(name: string) {
  const [namespace, own] = name.split("/") as [string, string];
  return { namespace, name: own, labels: {}, annotations: {} };
}

function entryOf(service: Service): Resource {
  return encodeResource(service, serviceEntryCodec.pack(toServiceEntry(service)));
}

function recordOf(service: Service): Resource {
  const bytes = new TextEncoder().encode(JSON.stringify({ file: "pinnace.yaml", service }));
  return { name: keyOf(service), version: contentHash([bytes]), bytes };
}

function keyOf({ namespace, name }: Service): string {
  return `${namespace}/${name}`;
}

/** A snapshot of that world, which shares with `before` what is equal. */
function snapshotOf(world: World, before: Snapshot = emptySnapshot(SETTINGS)): Snapshot {
  const { own = [], foreign = [], virtual = {}, rules = {}, workloads = {} } = world;
  const { namespace = "default" } = world;
  const collections = new Map(before.collections);
  const put = (kind: string, resources: readonly Resource[]) =>
    collections.set(kind, follow(before.collections.get(kind)!, resources));
  put("ServiceEntry", [...own, ...foreign].map(entryOf));
  put(
    "VirtualService",
    Object.entries(virtual).map(([name, body]) =>
      encodeResource(metadataOf(name), virtualServiceCodec.pack(body))
    ),
  );
  put(
    "DestinationRule",
    Object.entries(rules).map(([name, body]) =>
      encodeResource(metadataOf(name), destinationRuleCodec.pack(body))
    ),
  );
  put(
    "WorkloadEntry",
    Object.entries(workloads).map(([name, body]) =>
      encodeResource(metadataOf(name), workloadEntryCodec.pack(body))
    ),
  );
  const origins = new Map([[
    "ServiceEntry",
    Collection.of(
      ORIGINS_ANY_TYPE,
      foreign.map((one) => ({ name: keyOf(one), version: "edge-1", bytes: new Uint8Array() })),
    ),
  ]]);
  const { defaults } = before.settings;
  const settings = defaults.namespace === namespace
    ? before.settings
    : { ...before.settings, defaults: { ...defaults, namespace } };
  const services = follow(before.services, own.map(recordOf));
  return makeSnapshot({ collections, services, settings, origins });
}

function follow(before: Collection, resources: readonly Resource[]): Collection {
  const wanted = new Set(resources.map(({ name }) => name));
  const gone = Array.from(before, ({ name }) => name).filter((name) => !wanted.has(name));
  return before.patch(resources, gone);
}

function hosts({ services }: Catalogue): Record<string, readonly string[]> {
  return Object.fromEntries(Array.from(services, ([key, { service }]) => [key, service.hosts]));
}

Deno.test("catalogue: our own services are as we wrote them, others' as their ServiceEntries say", () => {
  const drained = { ...anEndpoint("192.0.2.9"), drain: true as const };
  const own = aService("shop/own", { aliases: ["mine"], endpoints: [drained] });
  const foreign = aService("far/away", { endpoints: [anEndpoint("192.0.2.7", { weight: 3 })] });
  const { services } = new Catalogues().of(snapshotOf({ own: [own], foreign: [foreign] }));
  assertEquals(services.get("shop/own")!.service, own);
  assertEquals(services.get("far/away")!.service, foreign);
});

Deno.test("catalogue: hosts are compared without regard to case, and stay names as they were written", () => {
  const a = aService("s/a", { hosts: ["A.S", "b.s", "a.s"], aliases: ["Mine"] });
  const c = aService("s/c", { hosts: ["c.s", "D.S"], resolution: "DNS", endpoints: [] });
  const virtual = {
    "s/v": { hosts: ["A.s"], http: [{ route: [{ destination: { host: "A.s", subset: "v1" } }] }] },
  };
  const rules = { "s/r": { host: "A.S", subsets: [{ name: "v1", labels: {} }] } };
  const { services } = new Catalogues().of(snapshotOf({ own: [a, c], virtual, rules }));
  const { service, traffic } = services.get("s/a")!;
  assertEquals([service.hosts, service.aliases], [["a.s", "b.s"], ["Mine", "A.S"]]);
  assertEquals(traffic.http[0]!.to, [{ host: "a.s", subset: "v1", weight: 1 }]);
  assertEquals([...traffic.subsets.keys()], ["v1"]);
  const looked = services.get("s/c")!.service;
  assertEquals([looked.hosts, looked.aliases], [["c.s", "d.s"], []]);
});

Deno.test("catalogue: a name that another source took is its service, not the one that we wrote", () => {
  const own = aService("shop/orders", { aliases: ["mine"] });
  const theirs = aService("shop/orders", { endpoints: [anEndpoint("192.0.2.7")] });
  const both = snapshotOf({ own: [own] });
  const snapshot = snapshotOf({ foreign: [theirs] });
  const union = makeSnapshot({ ...snapshot, services: both.services });
  assertEquals(new Catalogues().of(union).services.get("shop/orders")!.service, theirs);
});

Deno.test("catalogue: endpoints that merging added to our own entry are there as well", () => {
  const own = aService("shop/orders", { aliases: ["mine"] });
  const merged = { ...own, endpoints: [...own.endpoints, anEndpoint("192.0.2.8")] };
  const { services, settings } = snapshotOf({ own: [own] });
  const { collections } = snapshotOf({ own: [merged] });
  const { service } = new Catalogues().of(makeSnapshot({ collections, services, settings }))
    .services.get("shop/orders")!;
  assertEquals(service.aliases, ["mine"]);
  assertEquals(service.endpoints.map(({ address }) => address), ["192.0.2.1", "192.0.2.8"]);
});

Deno.test("catalogue: of equal hosts the first by key keeps them, and gives them up when it goes", () => {
  const catalogues = new Catalogues();
  const a = aService("a/x", { hosts: ["one", "two"] });
  const b = aService("b/x", { hosts: ["two", "three"] });
  const c = aService("c/x", { hosts: ["two"] });
  const first = snapshotOf({ own: [a, b, c] });
  assertEquals(hosts(catalogues.of(first)), { "a/x": ["one", "two"], "b/x": ["three"] });
  const second = snapshotOf({ own: [b, c] }, first);
  assertEquals(hosts(catalogues.of(second)), { "b/x": ["two", "three"] });
  const third = snapshotOf({ own: [a, b, c] }, second);
  assertEquals(hosts(catalogues.of(third)), { "a/x": ["one", "two"], "b/x": ["three"] });
});

Deno.test("catalogue: what did not change is the same object, and so is a catalogue that says the same", () => {
  const catalogues = new Catalogues();
  const [a, b] = [aService("s/a"), aService("s/b")];
  const first = snapshotOf({ own: [a, b] });
  const before = catalogues.of(first);
  const second = snapshotOf({ own: [a, { ...b, aliases: ["c"] }] }, first);
  const after = catalogues.of(second);
  assertStrictEquals(after.services.get("s/a"), before.services.get("s/a"));
  assertEquals(after.services.get("s/b")!.service.aliases, ["c"]);
  assertStrictEquals(after.context, before.context);
  const third = makeSnapshot({ ...second, settings: { ...SETTINGS, include: ["more/"] } });
  assertStrictEquals(catalogues.of(third), after);
});

Deno.test("catalogue: other settings of views are another context", () => {
  const catalogues = new Catalogues();
  const first = snapshotOf({ own: [aService("s/a")] });
  const before = catalogues.of(first);
  const after = catalogues.of(snapshotOf({ own: [aService("s/a")], namespace: "s" }, first));
  assertEquals([before.context.namespace, after.context.namespace], ["default", "s"]);
});

const SPLIT: Partially<VirtualService> = {
  hosts: ["a"],
  http: [
    {
      match: [{ uri: { prefix: "/v2" }, headers: { "X-Tier": { exact: "gold" } } }],
      route: [{ destination: { host: "a", subset: "v2" } }],
      timeout: { seconds: 1, nanos: 500_000_000 },
    },
    {
      route: [
        { destination: { host: "a", subset: "v1" }, weight: 80 },
        { destination: { host: "b.far", subset: "v2", port: { number: 81 } }, weight: 20 },
        { destination: { host: "a", subset: "v3" }, weight: 0 },
      ],
    },
  ],
};

const SUBSETS: Partially<DestinationRule> = {
  host: "a.s.svc.cluster.local",
  subsets: [{ name: "v2", labels: { version: "v2" } }, { name: "v1", labels: { version: "v1" } }],
};

Deno.test("catalogue: traffic is what VirtualServices and DestinationRules say, short names completed", () => {
  const own = [aService("s/a", { hosts: ["a.s.svc.cluster.local"] }), aService("s/b")];
  const world = { own, virtual: { "s/split": SPLIT }, rules: { "s/subsets": SUBSETS } };
  const { services } = new Catalogues().of(snapshotOf(world));
  const { traffic } = services.get("s/a")!;
  const host = "a.s.svc.cluster.local";
  assertEquals([...traffic.subsets], [["v1", { version: "v1" }], ["v2", { version: "v2" }]]);
  assertEquals(traffic.http, [
    {
      matches: [{
        path: { kind: "prefix", value: "/v2" },
        headers: { "x-tier": { kind: "exact", value: "gold" } },
      }],
      to: [{ host, subset: "v2", weight: 1 }],
      timeout: 1500,
    },
    {
      matches: [],
      to: [
        { host, subset: "v1", weight: 80 },
        { host: "b.far", subset: "v2", port: 81, weight: 20 },
      ],
    },
  ]);
  assertStrictEquals(services.get("s/b")!.traffic, PLAIN_TRAFFIC);
});

Deno.test("catalogue: a change of the rules touches the services of their hosts alone", () => {
  const catalogues = new Catalogues();
  const own = [aService("s/a", { hosts: ["a.s.svc.cluster.local"] }), aService("s/b")];
  const first = snapshotOf({ own });
  const before = catalogues.of(first);
  const second = snapshotOf({ own, virtual: { "s/split": SPLIT } }, first);
  const after = catalogues.of(second);
  assertEquals(after.services.get("s/a")!.traffic.http.length, 2);
  assertStrictEquals(after.services.get("s/b"), before.services.get("s/b"));
  const back = catalogues.of(snapshotOf({ own }, second));
  assertStrictEquals(back.services.get("s/a")!.traffic, PLAIN_TRAFFIC);
});

Deno.test("catalogue: a wildcard's rules are for whoever falls under it and has none of its own", () => {
  const own = [
    aService("s/a", { hosts: ["a.example.com"] }),
    aService("s/b", { hosts: ["b.org"] }),
  ];
  const route = (host: string) => ({ route: [{ destination: { host } }] });
  const virtual = {
    "s/wild": { hosts: ["*.example.com"], http: [route("wild.to")] },
    "s/own": { hosts: ["a.example.com"], http: [route("own.to")] },
  };
  const catalogues = new Catalogues();
  const first = snapshotOf({ own, virtual });
  const target = (catalogue: Catalogue, key: string) =>
    catalogue.services.get(key)!.traffic.http[0]?.to[0]?.host;
  const both = catalogues.of(first);
  assertEquals([target(both, "s/a"), target(both, "s/b")], ["own.to", undefined]);
  const { "s/wild": wild } = virtual;
  const after = catalogues.of(snapshotOf({ own, virtual: { "s/wild": wild } }, first));
  assertEquals(target(after, "s/a"), "wild.to");
});

Deno.test("catalogue: what clients cannot be given is named, and lets nothing through in its place", () => {
  const own = [aService("s/a", { hosts: ["a.s.svc.cluster.local"] })];
  const virtual = {
    "s/odd": {
      hosts: ["a"],
      http: [
        {
          match: [{ queryParams: { x: { exact: "1" } } }],
          route: [{ destination: { host: "b" } }],
        },
        { redirect: {} },
        { route: [{ destination: { host: "a" } }] },
      ],
    },
    "s/gateway": { hosts: ["a"], gateways: ["ingress"], http: [] },
  };
  const { traffic } = new Catalogues().of(snapshotOf({ own, virtual })).services.get("s/a")!;
  const targets = traffic.http.map(({ to }) => to[0]?.host);
  assertEquals(targets, [undefined, undefined, "a.s.svc.cluster.local"]);
  assertEquals(traffic.unserved.length, 2);
  assert(traffic.unserved.every((text) => text.includes("s/odd")), traffic.unserved.join());
});

Deno.test("catalogue: traffic to another service knows that service, and follows it", () => {
  const catalogues = new Catalogues();
  const own = aService("s/a", { hosts: ["a.s"] });
  const there = (hosts: string[], ports: number[] = [80]) =>
    aService("s/other", {
      hosts,
      ports: ports.map((number) => ({ name: `p${number}`, number, protocol: "HTTP" })),
    });
  const virtual = {
    "s/v": { hosts: ["a.s"], http: [{ route: [{ destination: { host: "two.s" } }] }] },
  };
  let snapshot = emptySnapshot(SETTINGS);
  const aim = (world: World) => {
    snapshot = snapshotOf({ virtual, ...world }, snapshot);
    const { http, elsewhere } = catalogues.of(snapshot).services.get("s/a")!.traffic;
    assertEquals(http[0]!.to[0]!.host, "two.s");
    const found = elsewhere?.get("two.s");
    if (found === undefined) return undefined;
    const { service: { hosts, ports }, subsets } = found;
    return { hosts, ports: ports.map(({ number }) => number), subsets: [...subsets.keys()] };
  };
  assertEquals(aim({ own: [own] }), undefined, "nobody has the host");
  const both = ["one.s", "two.s"];
  assertEquals(aim({ own: [own, there(both)] }), { hosts: both, ports: [80], subsets: [] });
  const ports = [80, 81];
  assertEquals(aim({ own: [own, there(both, ports)] }), { hosts: both, ports, subsets: [] });
  const rules = { "s/r": { host: "one.s", subsets: [{ name: "v9", labels: {} }] } };
  assertEquals(aim({ own: [own, there(both)], rules }), {
    hosts: both,
    ports: [80],
    subsets: ["v9"],
  });
  const wild = { "s/r": { host: "*.s", subsets: [{ name: "v8", labels: {} }] } };
  assertEquals(aim({ own: [own, there(both)], rules: wild })!.subsets, ["v8"]);
  const taken = aService("s/early", { hosts: ["one.s"] });
  const world = { own: [own, taken, there(both)] };
  assertEquals(aim(world), { hosts: ["two.s"], ports: [80], subsets: [] });
  assertEquals(aim({ own: [own, taken] }), undefined);
});

Deno.test("catalogue: routes of connections are for the ports that they name, TLS apart from TCP", () => {
  const host = "a.s.svc.cluster.local";
  const own = [aService("s/a", { hosts: [host] })];
  const to = (subset: string) => [{ destination: { host: "a", subset } }];
  const virtual = {
    "s/connections": {
      hosts: ["a"],
      tcp: [
        { match: [{ port: 5432 }], route: to("old") },
        { match: [{ sourceSubnet: "10.0.0.0/8" }], route: to("odd") },
        { route: to("new") },
      ],
      tls: [
        { match: [{ sniHosts: [host], port: 443 }], route: to("sealed") },
        { match: [{ sniHosts: ["other.example.com"] }], route: to("odd") },
      ],
    },
  };
  const { traffic } = new Catalogues().of(snapshotOf({ own, virtual })).services.get("s/a")!;
  const target = (subset: string) => [{ host, subset, weight: 1 }];
  assertEquals(traffic.streams, [
    { kind: "tcp", port: 5432, to: target("old") },
    { kind: "tcp", to: [] },
    { kind: "tcp", to: target("new") },
    { kind: "tls", port: 443, to: target("sealed") },
  ]);
  assertEquals(traffic.unserved, [
    "the match of tcp route 2 by sourceSubnet: connections to its port, or to any if it has none, " +
    "fail where no route before it takes them (VirtualService s/connections)",
  ]);
});

Deno.test("catalogue: endpoints selected by label are those of the service's namespace, and follow it", () => {
  const catalogues = new Catalogues();
  const own = [aService("s/a", { endpoints: [], workloadSelector: { app: "a" } }), aService("s/b")];
  const workload = (address: string, app: string) => ({ address, labels: { app, x: "1" } });
  const there = {
    "s/one": workload("192.0.2.31", "a"),
    "s/other": workload("192.0.2.32", "b"),
    "t/one": workload("192.0.2.33", "a"),
  };
  const addresses = (catalogue: Catalogue) =>
    catalogue.services.get("s/a")!.service.endpoints.map(({ address }) => address);
  const first = snapshotOf({ own, workloads: there });
  const before = catalogues.of(first);
  assertEquals(addresses(before), ["192.0.2.31"]);
  const more = { ...there, "s/two": workload("192.0.2.34", "a") };
  const second = snapshotOf({ own, workloads: more }, first);
  const after = catalogues.of(second);
  assertEquals(addresses(after), ["192.0.2.31", "192.0.2.34"]);
  assertStrictEquals(after.services.get("s/b"), before.services.get("s/b"));
  assertEquals(addresses(catalogues.of(snapshotOf({ own }, second))), []);
});

Deno.test("catalogue: wherever the making was stopped, the next one is what a fresh one would be", () => {
  const catalogues = new Catalogues();
  let state = 20261130;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  let snapshot = emptySnapshot(SETTINGS);
  for (let round = 0; round < 40; round++) {
    const own = Array.from({ length: 100 }, (_, i) => i).filter(() => random(4) > 0).map((i) =>
      aService(`s/${i}`, { hosts: [`h${i}.s`, `shared-${random(9)}`], aliases: [`${random(2)}`] })
    );
    snapshot = snapshotOf(
      { own, ...(random(2) === 0 ? {} : { virtual: { "s/v": SPLIT } }) },
      snapshot,
    );
    const making = catalogues.making(snapshot);
    const steps = random(8);
    for (let step = 0; step < steps; step++) making.next();
    if (random(3) > 0) continue;
    const [made, fresh] = [catalogues.of(snapshot), new Catalogues().of(snapshot)];
    assertEquals([...made.services], [...fresh.services], `round ${round}`);
  }
});
