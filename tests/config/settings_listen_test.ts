import { assertEquals } from "@std/assert";
import { hints, malformed, normalise, wrong } from "./testdata/settings_input.ts";

Deno.test("listen: a folder of TLS, its files one by one, and whom to let in", () => {
  const { listen } = normalise(`
listen:
  - { address: "0.0.0.0:1", tls: tls/server }
  - { address: "0.0.0.0:2", tls: { cert: a.crt, key: a.key } }
  - address: "0.0.0.0:3"
    tls: { cert: a.crt, key: a.key, ca: "\${CA}" }
    allow: ["spiffe://example.org/ns/*/sa/istiod", "*.example.org"]
`);
  assertEquals(listen, [
    {
      address: "0.0.0.0:1",
      tls: { kind: "folder", folder: "tls/server" },
      allow: [],
      insecure: false,
    },
    {
      address: "0.0.0.0:2",
      tls: { kind: "files", cert: "a.crt", key: "a.key" },
      allow: [],
      insecure: false,
    },
    {
      address: "0.0.0.0:3",
      tls: { kind: "files", cert: "a.crt", key: "a.key", ca: "${CA}" },
      allow: ["spiffe://example.org/ns/*/sa/istiod", "*.example.org"],
      insecure: false,
    },
  ]);
});

Deno.test("listen: plaintext on loopback needs no saying", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.7.6", "[::1]", "[::ffff:127.0.0.1]"]) {
    assertEquals(wrong(`listen: ["${host}:1"]`), [], host);
  }
});

Deno.test("listen: plaintext off loopback is an error, unless it is meant", () => {
  const said = "is not loopback, and plaintext there can be read and changed on its way";
  for (const host of ["0.0.0.0", "[::]", "10.0.0.1", "pinnace.example", "127.1", "localhost.x"]) {
    assertEquals(wrong(`listen: ["${host}:1"]`), [`error listen.0: ${host}:1 ${said}`]);
    assertEquals(wrong(`listen: [{ address: "${host}:1" }]`), [
      `error listen.0.address: ${host}:1 ${said}`,
    ]);
    assertEquals(wrong(`listen: [{ address: "${host}:1", insecure: true }]`), []);
    assertEquals(wrong(`listen: [{ address: "${host}:1", tls: server }]`), []);
  }
  assertEquals(hints('listen: ["0.0.0.0:1"]'), [
    'give `tls`, or, where plaintext is meant, write { address: "0.0.0.0:1", insecure: true }',
  ]);
});

Deno.test("listen: whether it is loopback is asked of the address that a variable holds", () => {
  const yaml = 'listen: ["${AT}"]';
  assertEquals(wrong(yaml, { AT: "127.0.0.1:1" }), []);
  assertEquals(wrong(yaml, { AT: "10.0.0.1:1" }), [
    "error listen.0: ${AT} is not loopback, and plaintext there can be read and changed on its way",
  ]);
});

Deno.test("listen: `allow` needs certificates, and someone who vouches for them", () => {
  const allow = "allow: [a.example]";
  assertEquals(wrong(`listen: [{ address: "127.0.0.1:1", ${allow} }]`), [
    "error listen.0.allow: `allow` is about client certificates, but there is no `tls` here",
  ]);
  assertEquals(wrong(`listen: [{ address: "0.0.0.0:1", ${allow}, tls: { cert: c, key: k } }]`), [
    "error listen.0.allow: `allow` is about client certificates, but `tls` has no `ca` that " +
    "vouches for them",
  ]);
  assertEquals(wrong(`listen: [{ address: "0.0.0.0:1", ${allow}, tls: folder }]`), []);
});

Deno.test("listen: `insecure` beside `tls` has no effect, which is said", () => {
  assertEquals(wrong('listen: [{ address: "0.0.0.0:1", tls: server, insecure: true }]'), [
    "warning listen.0.insecure: `insecure` has no effect beside `tls`: there is no plaintext on " +
    "this address",
  ]);
});

Deno.test("listen: variables in paths of files are looked up", () => {
  const folder = 'listen: [{ address: "0.0.0.0:1", tls: "${TLS}/server" }]';
  assertEquals(wrong(folder, { TLS: "/run" }), []);
  assertEquals(wrong(folder), ["error listen.0.tls: the environment variable TLS is not set"]);
  const files = 'listen: [{ address: "0.0.0.0:1", tls: { cert: c, key: "${KEY}", ca: "${CA}" } }]';
  assertEquals(wrong(files, { KEY: "" }), [
    "error listen.0.tls.key: ${KEY} is empty, so it is no path",
    "error listen.0.tls.ca: the environment variable CA is not set",
  ]);
});

Deno.test("listen: forms that are none are said with what would be right", () => {
  const item = (more: string) => malformed(`listen: [{ address: "127.0.0.1:1", ${more} }]`);
  assertEquals(item("tls: { cert: a }"), ["listen.0.tls: `key` is missing"]);
  assertEquals(item("tls: { cert: a, key: b, caa: c }"), [
    "listen.0.tls.caa: unknown key `caa`; did you mean `ca`?",
  ]);
  assertEquals(item("tls: true"), [
    "listen.0.tls: `tls` must be text or a mapping, not true",
  ]);
  assertEquals(item("tls: x, allow: []"), [
    "listen.0.allow: `allow` must not be empty: that could mean nobody or everybody; leave it " +
    "out to let in whomever the CA vouches for",
  ]);
  const pattern = "must be a SPIFFE URI (spiffe://…) or a DNS name, in which * stands for any text";
  for (const bad of ["https://a/b", "a b", "spiffe://", ""]) {
    assertEquals(item(`allow: ["${bad}"]`), [`listen.0.allow.0: item 1 of \`allow\` ${pattern}`]);
  }
  for (const good of ["*", "*/sa/istiod", "spiffe://*", "a.example"]) {
    assertEquals(item(`allow: ["${good}"]`), [], good);
  }
  assertEquals(item("insecure: yes"), [
    'listen.0.insecure: `insecure` must be true or false, not "yes"',
  ]);
});
