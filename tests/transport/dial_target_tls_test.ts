import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import { dialStream } from "../../lib/transport/dial.ts";
import { systemAuthorities } from "../../lib/transport/system_authorities.ts";
import { TlsFilesError } from "../../lib/transport/tls_files.ts";
import { Authority, DAY, LONG_AGO, type Pair, stamp, TempFolder } from "./certificates.ts";
import { PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";
import { dial, echo, fateOf, files, reasonOf, Secured, SecureServing } from "./secure_serving.ts";
const authority = await Authority.create("Test Authority");
const stranger = await Authority.create("Other Authority");
globalThis.addEventListener("unload", () => {
  void authority[Symbol.asyncDispose]();
  void stranger[Symbol.asyncDispose]();
});
const server = await authority.issue({
  names: "DNS:sink.example, IP:127.0.0.1, DNS:*.mesh.example",
});
const client = await authority.issue({ names: "URI:spiffe://example.org/ns/edge/sa/fra" });

Deno.test("dial target: mutual TLS: a stream carries messages, each knows who the other is", async () => {
  await using serving = await SecureServing.start({ ...server, ca: authority.cert });
  const { folder, tls } = await files({ ...client, ca: authority.cert });
  await using _ = folder;
  const stream = await dial(serving.port, { tls });
  await echo(stream);
  assertEquals(serving.streams[0]!.peer.identity?.uris, [
    "spiffe://example.org/ns/edge/sa/fra",
  ]);
  stream.end();
});

Deno.test("dial target: a server's name may be another than the host, a wildcard or an IP address", async () => {
  await using serving = await SecureServing.start(server);
  const { folder, tls } = await files({ ca: authority.cert });
  await using _ = folder;
  for (const serverName of ["SINK.example", "a.mesh.example", "127.0.0.1"]) {
    const stream = await dial(serving.port, { host: "x.example", tls: { ...tls, serverName } });
    await echo(stream, 10);
    stream.end();
  }
  for (const serverName of ["a.b.mesh.example", "mesh.example", "127.0.0.2", "x.example"]) {
    assertEquals(
      await reasonOf(dial(serving.port, { tls: { ...tls, serverName } })),
      `the server's certificate is for sink.example, *.mesh.example, 127.0.0.1, not for ${serverName}`,
    );
  }
});

Deno.test("dial target: a server's certificate that is not right is said to be what it is", async () => {
  await using intermediate = await stranger.subordinate("Intermediate");
  const strange = await intermediate.issue({ names: "DNS:sink.example" });
  const wrongs: readonly (readonly [Pair, RegExp])[] = [
    [
      await authority.issue({ names: "DNS:sink.example", from: LONG_AGO, to: "20210101000000Z" }),
      /^the server's certificate expired on 2021-01-01T00:00:00Z$/,
    ],
    [
      await authority.issue({ names: "DNS:sink.example", from: stamp(DAY) }),
      /^the server's certificate is not valid before /,
    ],
    [
      await stranger.issue({ names: "DNS:sink.example" }),
      /^the server's certificate is signed by an authority that is not among ca \(Other Authority\); if that is an intermediate one, the server must send its/,
    ],
    [
      await authority.issue({
        names: "DNS:sink.example",
        extensions: ["extendedKeyUsage=clientAuth"],
      }),
      /^the server's certificate is none for servers: its extended key usage has no serverAuth$/,
    ],
    [
      { cert: strange.cert + intermediate.cert, key: strange.key },
      /not among ca \(Other Authority\)$/,
    ],
    [
      await authority.issue({
        extensions: ["subjectAltName=@n\n[n]\nURI.1=spiffe://example.org/x, DNS:sink.example"],
      }),
      /^the server's certificate is for nobody, not for sink.example$/,
    ],
  ];
  const { folder, tls } = await files({ ca: authority.cert });
  await using _ = folder;
  for (const [pair, expected] of wrongs) {
    await using serving = await Secured.start(pair);
    assertMatch(await reasonOf(dial(serving.port, { tls })), expected);
  }
});

Deno.test("dial target: without a ca the system's authorities count, which know no test's", async () => {
  await using serving = await SecureServing.start(server);
  const reason = await reasonOf(dial(serving.port, { tls: { files: { kind: "files" } } }));
  assertMatch(
    reason,
    /authority that this system does not know \(Test Authority\); .*; give it as ca$/,
  );
});

Deno.test("dial target: the system's authorities are those that SSL_CERT_FILE names, where it does", async () => {
  await using folder = await (await TempFolder.create()).writeTls({ ca: authority.cert });
  const at = (path: string) => () => path;
  const system = await systemAuthorities(at(folder.at("ca.crt")));
  assertEquals(system, authority.cert);
  await assertRejects(
    () => systemAuthorities(at(folder.at("no.crt"))),
    TlsFilesError,
    "SSL_CERT_FILE: ",
  );
  await using serving = await SecureServing.start(server);
  const tls = { serverName: "sink.example", system: system! };
  const stream = await dialStream({ host: "127.0.0.1", port: serving.port }, PATH, {
    metadata: {},
    signal: AbortSignal.timeout(10_000),
    now,
    tls,
  });
  await echo(stream, 10);
  stream.end();
});

Deno.test("dial target: a server that wants another client certificate, or any, says so through us", async () => {
  await using serving = await SecureServing.start({ ...server, ca: authority.cert });
  const none = await files({ ca: authority.cert });
  await using _none = none.folder;
  assertMatch(
    await fateOf(dial(serving.port, { tls: none.tls })),
    /a client certificate is needed here/,
  );
  const other = await files({ ...await stranger.issue({}), ca: authority.cert });
  await using _other = other.folder;
  assertMatch(
    await fateOf(dial(serving.port, { tls: other.tls })),
    /your certificate is not signed by an authority/,
  );
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    // One that only knows TLS's own words.
    const demand = { ...server, ca: authority.cert, requestCert: true, maxVersion };
    await using plain = await Secured.start(demand);
    assertEquals(
      await reasonOf(dial(plain.port, { tls: none.tls })),
      "the server wants a client certificate, and none is configured",
    );
    assertMatch(
      await fateOf(dial(plain.port, { tls: other.tls })),
      /may not accept our certificate/,
    );
  }
});

Deno.test("dial target: a server that speaks no TLS, no HTTP/2 or nothing is said to be that", async () => {
  const { folder, tls } = await files({ ca: authority.cert });
  await using _ = folder;
  await using plain = await Serving.start();
  assertMatch(
    await reasonOf(dial(plain.port, { tls })),
    /the server closed the connection during the TLS handshake; it may not speak TLS/,
  );
  await using http1 = await Secured.start({ ...server, ALPNProtocols: ["http/1.1"] });
  assertEquals(await reasonOf(dial(http1.port, { tls })), "the server speaks TLS, but not HTTP/2");
  const greeter = net.createServer((socket) => {
    socket.on("error", () => {}).write("220 mail.example ESMTP\r\n");
  });
  greeter.listen(0, "127.0.0.1");
  await once(greeter, "listening");
  const { port } = greeter.address() as net.AddressInfo;
  assertEquals(await reasonOf(dial(port, { tls })), "the server does not speak TLS");
  greeter.close();
});

Deno.test("dial target: an attempt that is given up in the middle of a handshake leaves no connection", async () => {
  const { folder, tls } = await files({ ca: authority.cert });
  await using _ = folder;
  const sockets: net.Socket[] = [];
  const silent = net.createServer((socket) =>
    void sockets.push(socket.on("error", () => {}).resume())
  );
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as net.AddressInfo;
  for (const options of [{ tls }, { proxy: { host: "127.0.0.1", port } }]) {
    const abort = new AbortController();
    const attempt = dial(port, options, abort.signal);
    attempt.catch(() => {});
    await until(() => sockets.length > 0, "connected");
    abort.abort(new Error("enough"));
    await assertRejects(() => attempt, Error, "enough");
    await until(() => sockets.every((socket) => socket.closed), "nothing is left");
    sockets.length = 0;
  }
  silent.close();
});

Deno.test("dial target: files are read at each attempt; what is wrong with them is its reason", async () => {
  await using serving = await SecureServing.start({ ...server, ca: authority.cert });
  const { folder, tls } = await files({ ...client, ca: stranger.cert });
  await using _ = folder;
  assertMatch(await reasonOf(dial(serving.port, { tls })), /not among ca/);
  await folder.writeTls({ ca: authority.cert });
  const stream = await dial(serving.port, { tls });
  await echo(stream, 10);
  const renewed = await authority.issue({ names: "URI:spiffe://example.org/ns/edge/sa/renewed" });
  await folder.writeTls({ cert: renewed.cert });
  assertMatch(
    await reasonOf(dial(serving.port, { tls })),
    /tls\.key is not that of the certificate/,
  );
  await folder.writeTls({ key: renewed.key });
  const next = await dial(serving.port, { tls });
  await echo(next, 10);
  assertEquals(serving.streams.map((s) => s.peer.identity?.uris[0]), [
    "spiffe://example.org/ns/edge/sa/fra",
    "spiffe://example.org/ns/edge/sa/renewed",
  ]);
  await echo(stream, 20); // the first lives on
  const old = await authority.issue({ names: "DNS:me", from: LONG_AGO, to: "20210101000000Z" });
  await folder.writeTls(old);
  assertEquals(
    await reasonOf(dial(serving.port, { tls })),
    "our certificate me expired on 2021-01-01T00:00:00Z; renew it",
  );
  stream.end();
  next.end();
});
