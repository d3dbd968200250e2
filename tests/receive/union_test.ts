import { assertEquals, assertMatch, assertStrictEquals, assertThrows } from "@std/assert";
import { formatFinding } from "../../lib/model/finding.ts";
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { Union } from "../../lib/receive/union.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { resource } from "../snapshot/snapshots.ts";
import { decoded, entries, entry } from "./entries.ts";
import { at, owners, texts, unite } from "./unions.ts";

Deno.test("union: every kind is there, and of one that one part alone has it is that part's own object", () => {
  const union = new Union({ merge: "refuse" });
  assertEquals([...union.collections.keys()], KINDS.map(({ kind }) => kind));
  const own = entries(entry("n/a"));
  const gateways = Collection.of(MCP_RESOURCE_TYPE_URL, [resource("n/g", "g")]);
  union.set("", own);
  union.set("edge", new Map([["Gateway", gateways], ["ServiceEntry", NOTHING]]));
  assertStrictEquals(union.collections.get("ServiceEntry"), own.get("ServiceEntry"));
  assertStrictEquals(union.collections.get("Gateway"), gateways);
  const newer = entries(entry("n/a"), entry("n/b"));
  union.set("", newer);
  assertStrictEquals(union.collections.get("ServiceEntry"), newer.get("ServiceEntry"));
});

const NOTHING = Collection.empty(MCP_RESOURCE_TYPE_URL);

Deno.test("union: collections and their map are the same objects while nothing changes", () => {
  const union = unite({ "": [entry("n/a")], edge: [entry("n/b")] });
  const { collections } = union;
  union.set("edge", entries(entry("n/b")));
  union.set("other", entries());
  union.set("unheard of", undefined);
  assertStrictEquals(union.collections, collections);
  union.set("other", entries(entry("n/a", at("10.0.0.9"))));
  assertStrictEquals(union.collections, collections, "what is left out changes nothing");
  union.set("edge", undefined);
  assertStrictEquals(union.collections.get("Gateway"), collections.get("Gateway"));
  assertEquals(owners(union), ["n/a "]);
});

Deno.test("union: a collection stays the same object where a part goes that gave nothing to it", () => {
  const [x, y] = [entry("n/x"), entry("n/y")];
  const union = unite({ a: [x], b: [y], c: [x] });
  union.set("b", undefined);
  const collection = union.collections.get("ServiceEntry");
  union.set("c", undefined);
  assertStrictEquals(union.collections.get("ServiceEntry"), collection);
});

Deno.test("union: a kind that there is not is a mistake of who sets it, and changes nothing", () => {
  const union = unite({ "": [entry("n/a")] });
  assertThrows(() => union.set("edge", new Map([["Ingress", NOTHING]])), TypeError, "Ingress");
  assertEquals(owners(union), ["n/a "]);
});

Deno.test("union: a name stays with who had it first, and goes to the next when that one gives it up", () => {
  const union = unite({ b: [entry("n/x", at("10.0.0.2"))], a: [entry("n/x", at("10.0.0.1"))] });
  union.set("c", entries(entry("n/x", at("10.0.0.3"))));
  assertEquals(owners(union), ["n/x b"]);
  union.set("b", entries(entry("n/x", at("10.0.0.4"))));
  assertEquals(owners(union), ["n/x b"], "it may change it");
  union.set("b", entries());
  assertEquals(owners(union), ["n/x a"]);
  union.set("b", entries(entry("n/x")));
  assertEquals(owners(union), ["n/x a"], "once given up, it does not come back");
  union.set("a", undefined);
  assertEquals(owners(union), ["n/x b"], "it is still before c in order");
  assertEquals(decoded(union.collections.get("ServiceEntry")!.get("n/x")).endpoints, []);
});

Deno.test("union: a name is contested in any kind, and only within it", () => {
  const of = (text: string) => Collection.of(MCP_RESOURCE_TYPE_URL, [resource("n/x", text)]);
  const union = new Union({ merge: "refuse" });
  union.set("a", new Map([["Gateway", of("1")], ["Sidecar", of("1")]]));
  union.set("b", new Map([["Gateway", of("2")], ["VirtualService", of("2")]]));
  assertEquals(owners(union, "Gateway"), ["n/x a"]);
  assertEquals(owners(union, "VirtualService"), ["n/x b"]);
  assertEquals(union.findings().length, 1);
});

Deno.test("union: a contested name is a finding that says who has it, who is left out, what to do", () => {
  const union = unite({ a: [entry("n/x")], b: [entry("n/x", at("10.0.0.1"))] });
  union.set("c", entries(entry("n/x", at("10.0.0.2"))));
  assertEquals(texts(union), [
    'warning: n/x: ServiceEntry n/x is served as source "a" has it, which had it first; what comes from ' +
    'sources "b", "c" under that name is left out; give them names of their own, or let one source ' +
    "alone fill the namespace (receive.from: namespaces) [receive/contested-name]",
  ]);
  union.set("b", undefined);
  union.set("c", entries());
  assertEquals(texts(union), []);
});

Deno.test("union: a contested name with equal content is a finding as well, a mild one", () => {
  const union = unite({ a: [entry("n/x")], b: [entry("n/x")] });
  assertMatch(texts(union).join(), /^warning: .*equal content.*"a".*"b".*served once/);
});

Deno.test("union: what a person writes in an own file replaces what a source gives under that name", () => {
  const union = unite({ edge: [entry("n/x"), entry("n/y")] });
  union.set("", entries(entry("n/x", at("10.0.0.1"))));
  assertEquals(owners(union), ["n/x ", "n/y edge"]);
  assertMatch(
    texts(union).join(),
    /n\/x of our own configuration replaces what comes from source "edge"/,
  );
  union.set("", entries());
  assertEquals(owners(union), ["n/x edge", "n/y edge"]);
});

Deno.test("union: after a restart a name goes to who was served, until parts begin to change", () => {
  const [ofA, ofB] = [entry("n/x", at("10.0.0.1")), entry("n/x", at("10.0.0.2"))];
  const start = () => {
    const union = new Union({ merge: "refuse", served: entries(ofB) });
    union.set("a", entries(ofA));
    return union;
  };
  const restored = start();
  restored.set("b", entries(ofB));
  assertEquals(owners(restored), ["n/x b"]);
  const unmatched = start();
  unmatched.set("b", entries(entry("n/x", at("10.0.0.3"))));
  assertEquals(owners(unmatched), ["n/x a"], "else the order of the parts counts");
  const settled = start();
  settled.settle();
  settled.set("b", entries(ofB));
  assertEquals(owners(settled), ["n/x a"]);
  const changed = start();
  changed.set("a", entries(ofA, entry("n/y")));
  changed.set("b", entries(ofB));
  assertEquals(owners(changed), ["n/x a", "n/y a"]);
});

Deno.test("union: after a restart a host goes to the entry that was served", () => {
  const [x, y] = [entry("n/x", { hosts: ["h"] }), entry("n/y", { hosts: ["h"] })];
  const union = new Union({ merge: "refuse", served: entries(y) });
  union.set("a", entries(x));
  union.set("b", entries(y));
  assertEquals(owners(union), ["n/y b"]);
  union.set("a", entries(x, entry("n/z")));
  assertEquals(owners(union), ["n/y b", "n/z a"], "and stays there");
});

Deno.test("union: after a restart an entry that is as it was served goes before one that has changed since", () => {
  const [x, y] = [entry("n/x", { hosts: ["h1"] }), entry("n/y", { hosts: ["h2"] })];
  const union = new Union({ merge: "refuse", served: entries(x, y) });
  union.set("a", entries(entry("n/x", { hosts: ["h1", "h2"] })));
  union.set("b", entries(y));
  assertEquals(owners(union), ["n/y b"]);
});

Deno.test("union: of entries with one host the first is served, whatever namespace or capitals", () => {
  const union = unite({
    a: [entry("n/x", { hosts: ["Shop.example.com", "other"] })],
    b: [entry("m/y", { hosts: ["more", "shop.EXAMPLE.com"] })],
  });
  assertEquals(owners(union), ["n/x a"]);
  assertEquals(union.owner("ServiceEntry", "m/y"), undefined);
  assertEquals(texts(union), [
    'error: m/y: m/y of source "b" is not served: its host "shop.example.com" is that of n/x of ' +
    'source "a" already; give one of them another host, or serve the endpoints of both in one ' +
    "(receive.merge: endpoints) [receive/contested-host]",
  ]);
  union.set("a", entries(entry("n/x", { hosts: ["other"] })));
  assertEquals(owners(union), ["m/y b", "n/x a"]);
  assertEquals(texts(union), []);
});

Deno.test("union: wildcards are contested by their text alone", () => {
  const union = unite({
    a: [entry("n/x", { hosts: ["*.example.com"] })],
    b: [entry("n/y", { hosts: ["shop.example.com"] })],
  });
  assertEquals(owners(union), ["n/x a", "n/y b"]);
  union.set("c", entries(entry("n/z", { hosts: ["*.EXAMPLE.com"] })));
  assertEquals(owners(union), ["n/x a", "n/y b"]);
  assertEquals(union.findings().map(({ subject }) => subject), ["n/z"]);
});

Deno.test("union: equal hosts within one part are that part's own affair", () => {
  const twins = [entry("n/x", { hosts: ["h"] }), entry("n/y", { hosts: ["h"] })];
  const union = unite({ a: twins, b: [entry("n/b")] });
  assertEquals(owners(union), ["n/b b", "n/x a", "n/y a"]);
  assertEquals(texts(union), []);
});

Deno.test("union: whoever wants a host of an entry that is there gets none of it, its own hosts included", () => {
  const union = unite({
    a: [entry("n/x", { hosts: ["h1"] })],
    b: [entry("n/y", { hosts: ["h2"] })],
  });
  union.set("a", entries(entry("n/x", { hosts: ["h1", "h2"] })));
  assertEquals(owners(union), ["n/y b"], "a came first, but not to h2");
});

Deno.test("union: an entry that wants one host more keeps the one it has, if no one has the other", () => {
  const union = unite({
    "": [entry("n/own", { hosts: ["h3"] })],
    a: [entry("n/v", { hosts: ["other"] })],
    b: [entry("n/x", { hosts: ["h1"] })],
    c: [entry("n/w", { hosts: ["h2", "h3"] })],
  });
  union.set("a", entries(entry("n/v", { hosts: ["h1"] })));
  union.set("b", entries(entry("n/x", { hosts: ["h1", "h2"] })));
  assertEquals(owners(union), ["n/own ", "n/x b"]);
});

Deno.test("union: an entry that is left out for its name claims no host", () => {
  const union = unite({
    a: [entry("n/x", { hosts: ["h1"] })],
    b: [entry("n/x", { hosts: ["h2"] })],
    c: [entry("n/y", { hosts: ["h2"] })],
  });
  assertEquals(owners(union), ["n/x a", "n/y c"]);
  union.set("a", undefined);
  assertEquals(owners(union), ["n/y c"], "it comes after who has the host");
});

Deno.test("union: our own entry takes its hosts from a source's", () => {
  const union = unite({ edge: [entry("n/x", { hosts: ["h"] })] });
  union.set("", entries(entry("n/own", { hosts: ["h"] })));
  assertEquals(owners(union), ["n/own "]);
  assertMatch(texts(union).join(), /n\/x of source "edge" .*"h" is that of n\/own of our own conf/);
});

Deno.test("union: bytes that are no ServiceEntry have no hosts, and are served as they are", () => {
  const broken = resource("n/broken", "not a message");
  const union = unite({ a: [broken], b: [entry("n/y"), resource("n/empty", "")] });
  assertEquals(owners(union), ["n/broken a", "n/empty b", "n/y b"]);
  assertStrictEquals(union.collections.get("ServiceEntry")!.get("n/broken"), broken);
});

Deno.test("union: findings are bounded, and say how many more there are", () => {
  const names = Array.from({ length: 60 }, (_, i) => `n/name-${i}`);
  const hosts = Array.from({ length: 70 }, (_, i) => i);
  const ofHosts = (part: string) =>
    hosts.map((i) => entry(`n/${part}-${i}`, { hosts: [`host-${i}`] }));
  const union = unite({
    a: [...names.map((name) => entry(name)), ...ofHosts("a")],
    b: [...names.map((name) => entry(name, at("10.0.0.1"))), ...ofHosts("b")],
  });
  const found = union.findings();
  assertEquals(found.length, 102);
  assertEquals(found.filter(({ subject }) => subject === undefined).map(formatFinding), [
    "warning: 10 more names come from several sources [receive/contested-name]",
    "error: 20 more entries are not served for their hosts [receive/contested-host]",
  ]);
});
