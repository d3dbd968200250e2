import { assertEquals } from "@std/assert";
import { checkReceivePlace } from "../../lib/config/settings_receive.ts";
import { hints, malformed, normalise, wrong } from "./testdata/settings_input.ts";

const at = (more: string, address = "0.0.0.0:9901") =>
  `receive: { address: "${address}", ${more} }`;

Deno.test("receive: an address alone has every default", () => {
  assertEquals(normalise('receive: "127.0.0.1:9901"').receive, {
    address: "127.0.0.1:9901",
    insecure: false,
    from: [],
    tokens: {},
    merge: "refuse",
    collections: [],
  });
  assertEquals("receive" in normalise("{}"), false);
});

Deno.test("receive: every key", () => {
  const { receive } = normalise(`
receive:
  address: "0.0.0.0:9901"
  tls: tls/receiver
  insecure: true
  from: ["spiffe://example.org/edge/*", { source: lab, namespaces: [lab, "test-*"] }, { source: "*" }]
  tokens: { lab: lab.token }
  merge: endpoints
  keep: 24h
  collections: [istio/networking/v1alpha3/serviceentries]
`);
  assertEquals(receive, {
    address: "0.0.0.0:9901",
    tls: { kind: "folder", folder: "tls/receiver" },
    insecure: true,
    from: [
      { source: "spiffe://example.org/edge/*", namespaces: [] },
      { source: "lab", namespaces: ["lab", "test-*"] },
      { source: "*", namespaces: [] },
    ],
    tokens: { lab: "lab.token" },
    merge: "endpoints",
    keep: 86_400_000,
    collections: ["istio/networking/v1alpha3/serviceentries"],
  });
});

Deno.test("receive: plaintext off loopback is an error, unless it is meant", () => {
  const said =
    "0.0.0.0:9901 is not loopback, and plaintext there can be read and changed on its way";
  assertEquals(wrong('receive: "0.0.0.0:9901"'), [`error receive: ${said}`]);
  assertEquals(wrong(at("merge: refuse")), [`error receive.address: ${said}`]);
  assertEquals(wrong(at("insecure: true")), []);
  assertEquals(wrong('receive: "[::1]:9901"'), []);
  assertEquals(wrong('receive: "${AT}"', { AT: "localhost:0" }), []);
  assertEquals(wrong("receive: 'localhost'"), ["error receive: localhost is not an address"]);
});

Deno.test("receive: TLS by which no source can prove who it is is an error, unless it is meant", () => {
  const said = "error receive.tls: `tls` has no `ca` and there are no `tokens`, so no source can " +
    "prove who it is";
  const tls = "tls: { cert: c, key: k }";
  assertEquals(wrong(at(tls)), [said]);
  assertEquals(wrong(at(`${tls}, tokens: {}`)), [said]);
  assertEquals(wrong(at(tls, "127.0.0.1:9901")), [said]);
  assertEquals(hints(at(tls)), [
    "give `ca` or `tokens`, or, where anybody may fill in anything, `insecure: true`",
  ]);
  for (
    const good of [
      `${tls}, insecure: true`,
      `${tls}, tokens: { a: a.token }`,
      "tls: { cert: c, key: k, ca: a }",
      "tls: folder",
    ]
  ) assertEquals(wrong(at(good)), [], good);
});

Deno.test("receive: tokens that come in plaintext are a warning, but not on loopback", () => {
  const tokens = "insecure: true, tokens: { a: a.token }";
  assertEquals(wrong(at(tokens)), [
    "warning receive.tokens: tokens come to 0.0.0.0:9901 in plaintext: whoever is on their way " +
    "can take them",
  ]);
  assertEquals(wrong(at(tokens, "127.0.0.1:9901")), []);
});

Deno.test("receive: each token is in a file of its own, under a name that can be one", () => {
  assertEquals(wrong(at("tls: t, tokens: { a: x, b: y, c: x }")), [
    "error receive.tokens.c: a and c have the same file, so they cannot be told apart",
  ]);
  assertEquals(wrong(at('tls: t, tokens: { a: "${FILE}" }')), [
    "error receive.tokens.a: the environment variable FILE is not set",
  ]);
  assertEquals(malformed(at('tls: t, tokens: { "a b": x }')), [
    "receive.tokens.a b: the key `a b` must be letters, digits, and -_. in between",
  ]);
});

Deno.test("receive: a source that can never be matched is a warning", () => {
  assertEquals(wrong(at('tls: t, from: [a, "b*", { source: a, namespaces: [x] }]')), [
    "warning receive.from.2: item 3 of `from` never counts: item 1 matches the same sources, and " +
    "the first counts",
  ]);
  assertEquals(wrong(at('tls: t, from: [a, "*", b]')), [
    "warning receive.from.2: item 3 of `from` never counts: item 2 matches every source, and the " +
    "first counts",
  ]);
});

Deno.test("receive: lists that could mean all or nothing must name something", () => {
  assertEquals(malformed(at("from: []")), [
    "receive.from: `from` must not be empty: that could mean nobody or everybody; leave it out " +
    "for every source, or take out `receive` for none",
  ]);
  assertEquals(malformed(at("from: [{ source: a, namespaces: [] }]")), [
    "receive.from.0.namespaces: `namespaces` must not be empty; leave it out for every namespace, " +
    "or name those that are meant",
  ]);
});

Deno.test("receive: forms that are none are said with what would be right", () => {
  assertEquals(malformed(at("keep: 999ms")), ["receive.keep: `keep` must be from 1s to 87600h"]);
  assertEquals(malformed(at("merge: endpoint")), [
    'receive.merge: `merge` must be one of endpoints, refuse, not "endpoint"; did you mean endpoints?',
  ]);
  assertEquals(malformed(at("from: [{ namespaces: [a] }]")), [
    "receive.from.0: `source` is missing",
  ]);
  assertEquals(malformed(at("from: [{ source: a, namespaces: [Shop] }]")), [
    "receive.from.0.namespaces.0: item 1 of `namespaces` must be the name of a namespace, in " +
    "which * stands for any text",
  ]);
  assertEquals(malformed(at("allow: [a]")), [
    "receive.allow: `allow` does not belong here; `from` says which sources are taken in",
  ]);
  assertEquals(malformed("receive: {}"), ["receive: `address` is missing"]);
  assertEquals(malformed("receive: 9901"), [
    "receive: `receive` must be text or a mapping, not the number 9901; put it in quotes, else " +
    "YAML reads it as something else (1.10 as 1.1)",
  ]);
});

Deno.test("receive: it has an address of its own", () => {
  const places = (yaml: string) => checkReceivePlace(normalise(yaml)).map(({ message }) => message);
  assertEquals(places('receive: "127.0.0.1:15010"'), [
    "127.0.0.1:15010 is the address of `listen` as well",
  ]);
  assertEquals(places('receive: "127.0.0.1:15014"'), [
    "127.0.0.1:15014 is the address of `admin` as well",
  ]);
  assertEquals(places('{ admin: false, listen: ["[::1]:0"], receive: "[::1]:0" }'), []);
  assertEquals(places('receive: "127.0.0.1:9901"'), []);
  assertEquals(places("{}"), []);
});
