import { assert, assertEquals } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { hints, malformed, normalise, wrong } from "./testdata/settings_input.ts";

const sink = (more: string, address = "mesh.example:9901") =>
  `sinks: [{ name: mesh, address: "${address}", ${more} }]`;

Deno.test("sinks: each has a name of its own; one address twice is a warning", () => {
  assertEquals(wrong("sinks: ['a:1', { name: x, address: 'b:1' }, { name: x, address: 'c:1' }]"), [
    "error sinks.2: two sinks are named x, items 2 and 3",
  ]);
  assertEquals(wrong("sinks: ['a:1', 'a:1']"), [
    "error sinks.1: two sinks are named a:1, items 1 and 2",
  ]);
  assertEquals(wrong("sinks: ['a:1', { name: b, address: 'a:1' }]"), [
    "warning sinks.1: the sinks 1 and 2 have the same address",
  ]);
});

Deno.test("sinks: headers that are gRPC's own are refused", () => {
  assertEquals(
    wrong("sinks: [{ address: 'a:1', headers: { grpc-timeout: x, x-bin: y, te: z } }]"),
    [
      "error sinks.0.headers.grpc-timeout: the header grpc-timeout cannot be set",
      "error sinks.0.headers.x-bin: the header x-bin cannot be set",
      "error sinks.0.headers.te: the header te cannot be set",
    ],
  );
});

Deno.test("sinks: every key", () => {
  const { sinks } = normalise(`
sinks:
  - name: mesh
    address: mesh.example:9901
    tls: { ca: ca.pem, cert: c.pem, key: k.pem, serverName: mesh.internal }
    tokenFile: mesh.token
    proxy: "http://u:\${PASSWORD}@proxy:3128"
    headers: { x-site: fra }
    heartbeat: 10s
    collections: [istio/networking/v1alpha3/serviceentries, istio/networking/v1alpha3/gateways]
    wave: 1000
`);
  assertEquals(sinks, [{
    name: "mesh",
    address: "mesh.example:9901",
    tls: {
      files: { kind: "files", cert: "c.pem", key: "k.pem", ca: "ca.pem" },
      serverName: "mesh.internal",
    },
    tokenFile: "mesh.token",
    proxy: "http://u:${PASSWORD}@proxy:3128",
    headers: { "x-site": "fra" },
    heartbeat: 10_000,
    collections: [
      "istio/networking/v1alpha3/serviceentries",
      "istio/networking/v1alpha3/gateways",
    ],
    wave: 1000,
  }]);
});

Deno.test("sinks: TLS as a folder, by the system's CAs, or by its files", () => {
  const tls = (text: string) => normalise(sink(`tls: ${text}`)).sinks[0]!.tls;
  assertEquals(tls("tls/mesh"), { files: { kind: "folder", folder: "tls/mesh" } });
  assertEquals(tls("true"), { files: { kind: "files" } });
  assertEquals(tls("{}"), { files: { kind: "files" } });
  assertEquals(tls("{ ca: a }"), { files: { kind: "files", ca: "a" } });
  assertEquals(tls("{ folder: f, serverName: s }"), {
    files: { kind: "folder", folder: "f" },
    serverName: "s",
  });
});

Deno.test("sinks: files of TLS that do not go together are an error", () => {
  assertEquals(wrong(sink("tls: { cert: c }")), [
    "error sinks.0.tls.cert: `cert` stands without `key`",
  ]);
  assertEquals(wrong(sink("tls: { ca: a, key: k }")), [
    "error sinks.0.tls.key: `key` stands without `cert`",
  ]);
  assertEquals(wrong(sink("tls: { folder: f, ca: a }")), [
    "error sinks.0.tls.ca: `ca` stands beside `folder`, which holds it already",
  ]);
  assertEquals(wrong(sink('tls: { folder: "${A}" }')), [
    "error sinks.0.tls.folder: the environment variable A is not set",
  ]);
  assertEquals(wrong(sink('tls: { ca: "${A}" }')), [
    "error sinks.0.tls.ca: the environment variable A is not set",
  ]);
  assertEquals(wrong(sink("tls: { ca: a, cert: c, key: k }")), []);
});

Deno.test("sinks: forms of TLS that are none are said with what would be right", () => {
  assertEquals(malformed(sink("tls: false")), [
    "sinks.0.tls: `tls` must be text or true or a mapping, not false",
  ]);
  assertEquals(malformed(sink('tls: ""')), ["sinks.0.tls: `tls` must not be empty"]);
  assertEquals(malformed(sink("tls: { servername: a }")), [
    "sinks.0.tls.servername: unknown key `servername`; did you mean `serverName`?",
  ]);
  assertEquals(malformed(sink('tls: { serverName: "https://a" }')), [
    "sinks.0.tls.serverName: `serverName` must be a host name or IP address",
  ]);
});

Deno.test("sinks: a proxy is http://, and no message repeats it", () => {
  const proxy = (text: string) => wrong(sink("proxy: '${PROXY}'"), { PROXY: text });
  for (
    const good of [
      "http://proxy:3128",
      "http://proxy:3128/",
      "http://[::1]:3128",
      "http://user:password@127.0.0.1:80",
      "http://user:p%40ss@w:rd@127.0.0.1:80",
      "HTTP://proxy:1",
    ]
  ) assertEquals(proxy(good), [], good);
  const bad: Readonly<Record<string, string>> = {
    "secret:3128": "`proxy` does not begin with http://",
    "https://secret:3128":
      "`proxy` is no http:// proxy; CONNECT over plain HTTP is the only kind there is",
    "socks5://u:secret@p:1":
      "`proxy` is no http:// proxy; CONNECT over plain HTTP is the only kind there is",
    "http://u:secret@proxy": "`proxy` names no host and port that can be dialled",
    "http://u:secret@proxy:0": "`proxy` names no host and port that can be dialled",
    "http://proxy:1/secret": "`proxy` names no host and port that can be dialled",
    "http://secret@proxy:1": "`proxy` has a user without a password",
    "http://u:secret%@proxy:1": "`proxy` has a % in its user or password that begins no escape",
    "http://u%3a:secret@proxy:1":
      "`proxy` has a user or password with a character that a proxy cannot be sent",
    "http://u:secret%0a@proxy:1":
      "`proxy` has a user or password with a character that a proxy cannot be sent",
  };
  for (const [text, message] of Object.entries(bad)) {
    assertEquals(proxy(text), [`error sinks.0.proxy: ${message}`], text);
    const told = hints(sink("proxy: '${PROXY}'"), { PROXY: text });
    assert(told.length === 1 && !told[0]!.includes("secret"), told.join());
  }
  assertEquals(wrong(sink("proxy: '${PROXY}'")), [
    "error sinks.0.proxy: the environment variable PROXY is not set",
  ]);
});

Deno.test("sinks: a token in plaintext off loopback is a warning, wherever it comes from", () => {
  const said = (key: string, way = "") =>
    `warning sinks.0.${key}: the token for mesh travels in plaintext${way}: whoever is on its way ` +
    "can take it";
  const [file, header] = ["tokenFile: t", "headers: { authorization: '${T}' }"];
  assertEquals(wrong(sink(file)), [said("tokenFile")]);
  assertEquals(hints(sink(file)), ["give `tls`"]);
  assertEquals(wrong(sink(header), { T: "t" }), [said("headers.authorization")]);
  assertEquals(wrong(sink("headers: { x-site: x }")), []);
  assertEquals(wrong(sink(`${file}, tls: true`)), []);
  assertEquals(wrong(sink(file, "127.0.0.1:1")), []);
  assertEquals(wrong(sink(file, "localhost:1")), []);
  const proxied = said("tokenFile", ", through the proxy as well");
  assertEquals(wrong(sink(`${file}, proxy: "http://127.0.0.1:3128"`)), [proxied]);
  assertEquals(wrong(sink(`${file}, proxy: "http://proxy:3128"`, "localhost:1")), [proxied]);
  assertEquals(wrong(sink(`${file}, proxy: "http://[::1]:3128"`, "localhost:1")), []);
});

Deno.test("sinks: headers that look secret, in plaintext off loopback, are a warning each", () => {
  const env = { S: "hunter2" };
  const headers = (name: string, more = "") => sink(`headers: { ${name}: "\${S}" }${more}`);
  const said = (name: string, way = "") =>
    `warning sinks.0.headers.${name}: the header ${name} for mesh, which looks like a secret, travels ` +
    `in plaintext${way}: whoever is on its way can take it`;
  for (const name of ["x-api-key", "x-auth-token", "client-secret", "cookie"]) {
    assertEquals(wrong(headers(name), env), [said(name)]);
    assertEquals(wrong(headers(name, ", tls: true"), env), []);
  }
  const proxied = headers("x-token", ', proxy: "http://proxy:3128"');
  assertEquals(wrong(proxied, env), [said("x-token", ", through the proxy as well")]);
  assertEquals(wrong(headers("x-site"), env), []);
  assertEquals(wrong('sinks: [{ address: "127.0.0.1:1", headers: { x-token: "${S}" } }]', env), []);
  assertEquals(wrong('include: [{ xds: "a:1", headers: { x-token: "${S}" } }]', env), [
    said("x-token").replaceAll("sinks.0", "include.0").replace("mesh", "xds://a:1"),
  ]);
});

Deno.test("sinks: a token is given once", () => {
  assertEquals(
    wrong(sink("tls: true, tokenFile: t, headers: { authorization: '${T}' }"), { T: "t" }),
    [
      "error sinks.0.headers.authorization: `tokenFile` is sent as the header authorization, which " +
      "is among `headers` too",
    ],
  );
  assertEquals(wrong(sink('tls: true, tokenFile: "${EMPTY}"'), { EMPTY: "" }), [
    "error sinks.0.tokenFile: ${EMPTY} is empty, so it is no path",
  ]);
});

Deno.test("sinks: a secret that is written out is a warning, which does not repeat it", () => {
  const env = { NAME: "x", PASSWORD: "hunter2" };
  const password =
    "warning sinks.0.proxy: `proxy` holds its password as it is written, and so do " +
    "the stored snapshots";
  for (
    const bad of [
      "http://edge:hunter2@127.0.0.1:1",
      "http://${NAME}:hunter2@127.0.0.1:1",
      "http://a:b@c:hunter2@127.0.0.1:1",
      "http://edge:hunter$$2@127.0.0.1:1",
    ]
  ) assertEquals(wrong(sink(`proxy: "${bad}"`), env), [password], bad);
  for (
    const good of [
      "http://edge:${PASSWORD}@127.0.0.1:1",
      "http://edge:$$${PASSWORD}@127.0.0.1:1",
      "http://edge:@127.0.0.1:1",
      "http://proxy:3128",
    ]
  ) assertEquals(wrong(sink(`proxy: "${good}"`), env), [], good);
  const headers = (text: string) => sink(`tls: true, headers: ${text}`);
  for (const name of ["authorization", "x-api-key", "cookie", "x-auth-token", "client-secret"]) {
    assertEquals(wrong(headers(`{ ${name}: Basic hunter2 }`)), [
      `warning sinks.0.headers.${name}: the header ${name} holds its secret as it is written, and so ` +
      "do the stored snapshots",
    ]);
    assertEquals(wrong(headers(`{ ${name}: "Basic \${PASSWORD}" }`), env), [], name);
  }
  assertEquals(wrong(headers('{ x-site: fra, x-author: me, cookie: "" }')), []);
  assertEquals(wrong(`include: [{ xds: "a:1", proxy: "http://u:p@127.0.0.1:1" }]`), [
    password.replace("sinks", "include"),
  ]);
  assertEquals(hints(sink('proxy: "http://u:p@127.0.0.1:1"')), [
    "write http://user:${NAME}@host:port, with the password in the variable NAME",
  ]);
  assertEquals(hints(headers("{ authorization: Bearer hunter2 }")), [
    "write ${NAME}, with the secret in the variable NAME, or `tokenFile` for a bearer token",
  ]);
});

Deno.test("sinks: the value of a header is not repeated", () => {
  const [said] = malformed(sink("headers: { x-token: 4711 }"));
  assertEquals(
    said,
    "sinks.0.headers.x-token: `x-token` must be text, not a number; put it in quotes, else YAML " +
      "reads it as something else (1.10 as 1.1)",
  );
});

Deno.test("sinks: names of headers are what gRPC takes, and not our own", () => {
  assertEquals(malformed(sink("headers: { X-Token: x }")), [
    "sinks.0.headers.X-Token: the key `X-Token` must be lower-case letters, digits, _ . and -",
  ]);
  const own = sink("headers: { x-pinnace-instance: x }");
  assertEquals(wrong(own), [
    "error sinks.0.headers.x-pinnace-instance: the header x-pinnace-instance cannot be set",
  ]);
  assertEquals(hints(own), ["it is sent with `instance`; set that"]);
  const resumes = sink('headers: { x-pinnace-resumes: "1" }');
  assertEquals(wrong(resumes), [
    "error sinks.0.headers.x-pinnace-resumes: the header x-pinnace-resumes cannot be set",
  ]);
  assertEquals(hints(resumes), ["names that begin with x-pinnace- are for Pinnace to send"]);
});

Deno.test("sinks: collections are MCP's names of what Pinnace knows, each once", () => {
  const of = (list: string) => malformed(sink(`collections: ${list}`));
  assertEquals(of("[]"), []);
  assertEquals(of(JSON.stringify(KINDS.map(({ collection }) => collection))), []);
  const entries = "istio/networking/v1alpha3/serviceentries";
  for (
    const near of [
      "istio/networking/v1alpha3/serviceentry",
      "serviceentries",
      "ServiceEntry",
      "networking.istio.io/v1/ServiceEntry",
    ]
  ) {
    assertEquals(of(`[${near}]`), [
      `sinks.0.collections.0: "${near}" is no collection that Pinnace knows; did you mean ${entries}?`,
    ]);
  }
  const [far] = of("[pods]");
  assert(
    far!.startsWith('sinks.0.collections.0: "pods" is no collection that Pinnace knows; known: '),
  );
  assert(far!.includes("istio/telemetry/v1alpha1/telemetries"));
  assertEquals(of(`[${entries}, ${entries}]`), [
    "sinks.0.collections.1: item 2 of `collections` repeats item 1; leave one of them out",
  ]);
});

Deno.test("sinks: waves are numbered from 1 to 1000, and one without effect is said", () => {
  assertEquals(wrong(sink("wave: 1")), []);
  assertEquals(wrong(sink("wave: 2")), [
    "warning sinks.0.wave: `wave` has no effect in this version, which pushes to all at once",
  ]);
  for (const wave of ["0", "1001", "-1"]) {
    assertEquals(malformed(sink(`wave: ${wave}`)), [
      "sinks.0.wave: `wave` must be a number from 1 to 1000",
    ]);
  }
  assertEquals(malformed(sink("wave: 1.5")), [
    "sinks.0.wave: `wave` must be a whole number, not the number 1.5",
  ]);
});
