import { assert, assertEquals } from "@std/assert";
import type { Resource } from "../../lib/model/resource.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import { type Contribution, NO_ADDRESSES, type Recipe } from "../../lib/view/recipe.ts";
import type { Addresses, Catalogue, ServedService } from "../../lib/view/served_service.ts";
import { PLAIN_TRAFFIC } from "../../lib/view/traffic_rules.ts";
import { makerOf, type XdsView } from "../../lib/view/view_maker.ts";
import { aService, CONTEXT } from "./services.ts";

/** A resource whose content is this text. */
function resource(name: string, text: string): Resource {
  const bytes = new TextEncoder().encode(text);
  return { name, version: contentHash([bytes]), bytes };
}

/** Makes a cluster per host, and a route configuration `all` of every name; counts what it is asked. */
class Counting implements Recipe<string> {
  contributed: string[] = [];
  assembled = 0;

  contribute(served: ServedService, _: unknown, addresses: Addresses): Contribution<string> {
    const { key, service: { hosts, name, labels } } = served;
    this.contributed.push(key);
    const lookUps = hosts.filter((host) => host.startsWith("dns."));
    const known = lookUps.map((host) => addresses.get(host)?.join() ?? "?").join();
    return {
      resources: { Cluster: hosts.map((host) => resource(host, `${key}${known}`)) },
      parts: [{
        type: "RouteConfiguration",
        name: labels.route ?? "all",
        data: labels.data ?? name,
      }],
      lookUps,
      findings: labels.odd === undefined ? [] : [{ key, rule: "view/odd", message: labels.odd }],
    };
  }

  assemble(_: string, name: string, parts: readonly { key: string; data: string }[]) {
    this.assembled++;
    const text = parts.map(({ data }) => data).join(" ");
    return { resource: resource(name, text), findings: [] };
  }
}

function served(key: string, extra: Parameters<typeof aService>[1] = {}): ServedService {
  return { key, service: aService(key, extra), traffic: PLAIN_TRAFFIC };
}

function catalogue(...services: readonly ServedService[]): Catalogue {
  const sorted = [...services].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { services: new Map(sorted.map((one) => [one.key, one])), context: CONTEXT };
}

function text(view: XdsView, type: "Cluster" | "RouteConfiguration", name: string) {
  const found = view.collections.get(type)!.get(name);
  return found && new TextDecoder().decode(found.bytes);
}

function names(view: XdsView, type: "Cluster" | "RouteConfiguration"): string[] {
  return Array.from(view.collections.get(type)!, ({ name }) => name);
}

Deno.test("view maker: a change costs the service that changed and the resources that it shares", () => {
  const recipe = new Counting();
  const maker = makerOf(recipe);
  const [a, b, c] = ["x/a", "x/b", "x/c"].map((key) => served(key)) as [
    ServedService,
    ServedService,
    ServedService,
  ];
  const other = served("x/o", { labels: { route: "other" } });
  const first = maker.make(catalogue(a, b, c, other), NO_ADDRESSES);
  assertEquals(text(first, "RouteConfiguration", "all"), "a b c");
  recipe.contributed = [];
  recipe.assembled = 0;
  const second = maker.make(
    catalogue(a, served("x/b", { hosts: ["new"] }), c, other),
    NO_ADDRESSES,
  );
  assertEquals(recipe.contributed, ["x/b"]);
  assertEquals(recipe.assembled, 0, "its part of what is shared is the same as before");
  assertEquals(names(second, "Cluster"), ["a.x", "c.x", "new", "o.x"]);
  const { changed, removed } = second.collections.get("Cluster")!
    .diff(first.collections.get("Cluster")!);
  assertEquals([changed.map(({ name }) => name), removed], [["new"], ["b.x"]]);
  const last = served("x/b", { hosts: ["new"], labels: { data: "B" } });
  const third = maker.make(catalogue(a, last, c, other), NO_ADDRESSES);
  assertEquals([recipe.assembled, text(third, "RouteConfiguration", "all")], [1, "a B c"]);
});

Deno.test("view maker: where nothing changed the view is the same object", () => {
  const maker = makerOf(new Counting());
  const a = served("x/a");
  const view = maker.make(catalogue(a), NO_ADDRESSES);
  assert(maker.make(catalogue(a), NO_ADDRESSES) === view);
});

Deno.test("view maker: of one name for several, the first by key has it, and gives it up when it goes", () => {
  const maker = makerOf(new Counting());
  const late = served("y/late", { hosts: ["shared"] });
  const early = served("x/early", { hosts: ["shared"] });
  const view = maker.make(catalogue(late, early), NO_ADDRESSES);
  assertEquals(text(view, "Cluster", "shared"), "x/early");
  assertEquals(view.findings.map(({ key, rule }) => [key, rule]), [["y/late", "view/name-taken"]]);
  const after = maker.make(catalogue(late), NO_ADDRESSES);
  assertEquals(text(after, "Cluster", "shared"), "y/late");
  assertEquals(after.findings, []);
  const back = maker.make(catalogue(late, early), NO_ADDRESSES);
  assertEquals(text(back, "Cluster", "shared"), "x/early");
});

Deno.test("view maker: a shared resource goes with its last part", () => {
  const maker = makerOf(new Counting());
  const a = served("x/a");
  const only = served("x/only", { labels: { route: "mine" } });
  assertEquals(names(maker.make(catalogue(a, only), NO_ADDRESSES), "RouteConfiguration"), [
    "all",
    "mine",
  ]);
  assertEquals(names(maker.make(catalogue(a), NO_ADDRESSES), "RouteConfiguration"), ["all"]);
});

Deno.test("view maker: new addresses of a name make anew whoever was made of it, and nobody else", () => {
  const recipe = new Counting();
  const maker = makerOf(recipe);
  const known = new Map<string, readonly string[]>();
  const all = catalogue(served("x/a"), served("x/d", { hosts: ["dns.example"] }));
  const view = maker.make(all, known);
  assertEquals([text(view, "Cluster", "dns.example"), [...view.lookUps]], [
    "x/d?",
    ["dns.example"],
  ]);
  recipe.contributed = [];
  known.set("dns.example", ["192.0.2.1", "192.0.2.2"]);
  const next = maker.make(all, known);
  assertEquals(text(next, "Cluster", "dns.example"), "x/d192.0.2.1,192.0.2.2");
  assertEquals(recipe.contributed, ["x/d"]);
  known.set("dns.example", ["192.0.2.1", "192.0.2.2"]);
  assert(maker.make(all, known) === next, "the same addresses in another list");
});

Deno.test("view maker: findings of services come in their order and go with them", () => {
  const maker = makerOf(new Counting());
  const [a, b] = [
    served("x/a", { labels: { odd: "one" } }),
    served("x/b", { labels: { odd: "two" } }),
  ];
  const view = maker.make(catalogue(b, a), NO_ADDRESSES);
  assertEquals(view.findings.map(({ message }) => message), ["one", "two"]);
  assertEquals(maker.make(catalogue(b), NO_ADDRESSES).findings.map(({ key }) => key), ["x/b"]);
});

Deno.test("view maker: whatever the way there, equal catalogues give equal views", () => {
  const random = seeded(20261130);
  const maker = makerOf(new Counting());
  for (let round = 0; round < 200; round++) {
    const services = Array.from({ length: 12 }, (_, i) => i).filter(() => random() < 0.6).map((i) =>
      served(`x/${i}`, {
        hosts: [`h${Math.floor(random() * 5)}`, `own-${i}`],
        labels: { route: `r${Math.floor(random() * 3)}` },
      })
    );
    const here = maker.make(catalogue(...services), NO_ADDRESSES);
    const fresh = makerOf(new Counting()).make(catalogue(...services), NO_ADDRESSES);
    for (const [type, collection] of fresh.collections) {
      assertEquals(here.collections.get(type)!.version, collection.version, `${type} ${round}`);
    }
    assertEquals(new Set(here.findings.map(said)), new Set(fresh.findings.map(said)));
  }
});

Deno.test("view maker: wherever the making was stopped, the next view is what a fresh one would be", () => {
  const random = seeded(7);
  const maker = makerOf(new Counting());
  for (let round = 0; round < 60; round++) {
    const services = Array.from({ length: 100 }, (_, i) => i).filter(() => random() < 0.8).map((
      i,
    ) => served(`x/${i}`, { hosts: [`h${Math.floor(random() * 50)}`] }));
    const making = maker.making(catalogue(...services), NO_ADDRESSES);
    for (let step = Math.floor(random() * 6); step > 0; step--) making.next();
    if (random() < 0.6) continue;
    const here = maker.make(catalogue(...services), NO_ADDRESSES);
    const fresh = makerOf(new Counting()).make(catalogue(...services), NO_ADDRESSES);
    for (const [type, collection] of fresh.collections) {
      assertEquals(here.collections.get(type)!.version, collection.version, `${type} ${round}`);
    }
  }
});

Deno.test("view maker: a service that nothing can be made of is told, and the others are served", () => {
  const recipe = new Counting();
  const contribute = recipe.contribute.bind(recipe);
  recipe.contribute = (one, ...rest) => {
    if (one.key === "x/b") throw new RangeError("its port is no port");
    return contribute(one, ...rest);
  };
  const view = makerOf(recipe).make(catalogue(served("x/a"), served("x/b")), NO_ADDRESSES);
  assertEquals(names(view, "Cluster"), ["a.x"]);
  assertEquals(view.findings.map(({ key, rule }) => [key, rule]), [["x/b", "view/failed"]]);
});

Deno.test("view maker: a part that nothing can be made of is told, and the others are served", () => {
  const recipe = new Counting();
  const assemble = recipe.assemble.bind(recipe);
  recipe.assemble = (type, name, parts) => {
    const bad = parts.find(({ data }) => data.startsWith("bad"));
    if (bad !== undefined) throw new RangeError(`${bad.data} cannot be written`);
    return assemble(type, name, parts);
  };
  const services = ["a", "b", "c", "d", "e"].map((name) =>
    served(`x/${name}`, name === "b" || name === "e" ? { labels: { data: `bad ${name}` } } : {})
  );
  const maker = makerOf(recipe);
  const view = maker.make(catalogue(...services), NO_ADDRESSES);
  assertEquals(text(view, "RouteConfiguration", "all"), "a c d");
  assertEquals(view.findings.map(({ key, rule }) => [key, rule]), [
    ["x/b", "view/failed"],
    ["x/e", "view/failed"],
  ]);
  const only = maker.make(catalogue(services[1]!), NO_ADDRESSES);
  assertEquals(names(only, "RouteConfiguration"), []);
  assertEquals(only.findings.map(({ key }) => key), ["x/b"]);
});

function said({ key, message }: { key: string; message: string }): string {
  return `${key} ${message}`;
}

/** A small generator of numbers from 0 to 1; the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

Deno.test("view maker: what stands is there without any service, and stays", () => {
  class Standing extends Counting {
    standing(): Pick<Contribution<string>, "resources" | "parts"> {
      return {
        resources: { Cluster: [resource("own", "standing")] },
        parts: [{ type: "RouteConfiguration", name: "all", data: "first" }],
      };
    }
  }
  const maker = makerOf(new Standing());
  const empty = maker.make(catalogue(), NO_ADDRESSES);
  assertEquals(names(empty, "Cluster"), ["own"]);
  assertEquals(text(empty, "RouteConfiguration", "all"), "first");
  assert(maker.make(catalogue(), NO_ADDRESSES) === empty);
  const full = maker.make(catalogue(served("x/a")), NO_ADDRESSES);
  assertEquals(text(full, "RouteConfiguration", "all"), "first a");
  assertEquals(names(full, "Cluster"), ["a.x", "own"]);
  const context = { ...CONTEXT, namespace: "other" };
  const again = maker.make({ ...catalogue(), context }, NO_ADDRESSES);
  assertEquals(names(again, "Cluster"), ["own"]);
  assertEquals(text(again, "RouteConfiguration", "all"), "first");
});
