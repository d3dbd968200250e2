import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import type * as grpc from "@grpc/grpc-js";
import { basicAuthorization } from "../../lib/transport/connect_proxy.ts";
import { DialError } from "../../lib/transport/dial.ts";
import { type DialTarget, dialTarget } from "../../lib/transport/dial_target.ts";
import type { Gate } from "../../lib/transport/gate.ts";
import { rawMethod } from "../../lib/transport/grpc_bytes.ts";
import { HookedServer } from "../../lib/transport/hooked_server.ts";
import { listen, type Listener } from "../../lib/transport/listener.ts";
import { PushServer } from "../../lib/transport/server.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { TlsServer } from "../../lib/transport/tls_server.ts";
import { Authority, DAY, LONG_AGO, type Pair, stamp, TempFolder } from "./certificates.ts";
import { bytes, concat, settings } from "./frames.ts";
import { type Answer, TestProxy } from "./proxies.ts";
import { messageOf, PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

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

/** A push server behind TLS. */
class SecureServing implements AsyncDisposable {
  readonly streams: PushStream[] = [];
  readonly folder: TempFolder;
  readonly security: TlsServer;
  readonly #server: PushServer;
  readonly #listener: Listener;

  private constructor(
    folder: TempFolder,
    security: TlsServer,
    server: PushServer,
    listener: Listener,
  ) {
    this.folder = folder;
    this.security = security;
    this.#server = server;
    this.#listener = listener;
  }

  static async start(
    material: Partial<Pair> & { readonly ca?: string },
  ): Promise<SecureServing> {
    const folder = await (await TempFolder.create()).writeTls(material);
    const security = await TlsServer.open({
      files: { kind: "folder", folder: folder.path },
      poll: 20,
    });
    const server = new PushServer({ now });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, server, {
      now,
      secure: security.secure,
    });
    const serving = new SecureServing(folder, security, server, listener);
    server.addStream(PATH, (stream) => {
      serving.streams.push(stream);
      stream.onRequest((request) => void stream.write(messageOf(request)));
    });
    return serving;
  }

  get port(): number {
    return this.#listener.address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    await this.security[Symbol.asyncDispose]();
    await until(() => this.#server.connections === 0, "every connection is closed");
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Dials 127.0.0.1 as `sink.example`. */
function dial(
  port: number,
  target: Partial<DialTarget> = {},
  signal: AbortSignal = AbortSignal.timeout(10_000),
): Promise<PushStream> {
  const whole = { host: "sink.example", port, headers: {}, ...target };
  const address = target.proxy === undefined ? { host: "127.0.0.1" } : {};
  return dialTarget(whole, address, PATH, { signal, now });
}

async function reasonOf(attempt: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => attempt, DialError);
  return error.message;
}

/** Why there is no stream, or, where one was opened before the server had its say, why it ended. */
async function fateOf(attempt: Promise<PushStream>): Promise<string> {
  try {
    const stream = await attempt;
    await until(() => stream.signal.aborted, "the stream is over");
    return stream.failure ?? "";
  } catch (error) {
    if (error instanceof DialError) return error.message;
    throw error;
  }
}

/** Says something on the stream and waits until it comes back. */
async function echo(stream: PushStream, length = 300_000): Promise<void> {
  const answers: Uint8Array[] = [];
  stream.onRequest((answer) => answers.push(answer));
  await stream.write(messageOf(bytes(length)));
  await until(() => answers.length === 1, "the answer came");
  assertEquals(Uint8Array.from(answers[0]!), bytes(length));
}

async function files(
  material: Partial<Pair> & { readonly ca?: string },
): Promise<{ readonly folder: TempFolder; readonly tls: NonNullable<DialTarget["tls"]> }> {
  const folder = await (await TempFolder.create()).writeTls(material);
  return { folder, tls: { files: { kind: "folder", folder: folder.path } } };
}

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
      /^the server's certificate is signed by an authority that is not among ca \(Other Authority\)$/,
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

/** A TLS server of the runtime that only shakes hands. */
class Secured implements AsyncDisposable {
  readonly #server: tls.Server;
  readonly sockets: tls.TLSSocket[] = [];

  private constructor(options: tls.TlsOptions) {
    this.#server = tls.createServer({ ALPNProtocols: ["h2"], ...options });
    this.#server.on("tlsClientError", () => {});
    this.#server.on("secureConnection", (socket) => {
      this.sockets.push(socket.on("error", () => {}));
    });
  }

  static async start(options: tls.TlsOptions): Promise<Secured> {
    const secured = new Secured(options);
    secured.#server.listen(0, "127.0.0.1");
    await once(secured.#server, "listening");
    return secured;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await until(() => this.sockets.every((socket) => socket.closed), "every socket is closed");
  }
}

Deno.test("dial target: without a ca the system's authorities count, which know no test's", async () => {
  await using serving = await SecureServing.start(server);
  const reason = await reasonOf(dial(serving.port, { tls: { files: { kind: "files" } } }));
  assertMatch(
    reason,
    /authority that this system does not know \(Test Authority\); give it as ca$/,
  );
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

Deno.test("dial target: the token is read at each attempt; what is wrong with its file is said without it", async () => {
  await using serving = await Serving.start();
  await using folder = await TempFolder.create();
  const tokenFile = await folder.write("token", "first\n");
  const said = () => serving.streams.at(-1)!.metadata.authorization;
  await dial(serving.port, { tokenFile });
  await until(() => serving.streams.length === 1, "the stream came");
  assertEquals(said(), ["Bearer first"]);
  await folder.write("token", "  second  \r\n");
  await dial(serving.port, { tokenFile });
  await until(() => serving.streams.length === 2, "the stream came");
  assertEquals(said(), ["Bearer second"]);
  const wrongs: readonly (readonly [string, string])[] = [
    ["", "is empty"],
    [" \n", "is empty"],
    ["secret\nsecret", "has more than one line; it must hold the token alone"],
    ["secret secret", "holds spaces or characters that a header cannot carry"],
    ["sécret", "holds spaces or characters that a header cannot carry"],
    ["s".repeat(8193), "is larger than 8192 bytes"],
  ];
  for (const [content, reason] of wrongs) {
    await folder.write("token", content);
    assertEquals(
      await reasonOf(dial(serving.port, { tokenFile })),
      `the token file ${tokenFile} ${reason}`,
    );
  }
  await Deno.remove(tokenFile);
  assertEquals(
    await reasonOf(dial(serving.port, { tokenFile })),
    `the token file ${tokenFile} does not exist`,
  );
  assertEquals(serving.streams.length, 2);
});

Deno.test("dial target: through a proxy, with TLS to the sink, by the sink's name", async () => {
  await using serving = await SecureServing.start({ ...server, ca: authority.cert });
  await using proxy = await TestProxy.start();
  const { folder, tls } = await files({ ...client, ca: authority.cert });
  await using _ = folder;
  const authorization = basicAuthorization("edge", "pä:ss");
  const stream = await dial(serving.port, {
    tls,
    proxy: { host: "127.0.0.1", port: proxy.port, authorization },
  });
  await echo(stream);
  assertEquals(proxy.heads, [
    `CONNECT sink.example:${serving.port} HTTP/1.1\r\nHost: sink.example:${serving.port}\r\n` +
    "Proxy-Authorization: Basic ZWRnZTpww6Q6c3M=\r\n\r\n",
  ]);
  assertEquals(stream.peer, { address: "sink.example", port: serving.port });
  stream.end();
  await until(() => proxy.open === 0, "the connection through the proxy is closed");
});

Deno.test("dial target: :authority is the sink's, with a proxy and without", async () => {
  const hosts: string[] = [];
  const gates: Gate[] = [];
  const hooked = new HookedServer({});
  hooked.server.addService({ Stream: rawMethod(PATH, true) }, {
    Stream: (call: grpc.ServerDuplexStream<Uint8Array, Uint8Array>) =>
      void hosts.push(call.getHost()),
  });
  await using listener = await listen({ host: "127.0.0.1", port: 0 }, {
    inject: (gate) => {
      gates.push(gate);
      hooked.inject(gate);
    },
  }, { now });
  await using proxy = await TestProxy.start();
  const { port } = listener.address;
  for (const options of [{}, { proxy: { host: "127.0.0.1", port: proxy.port } }]) {
    const stream = await dial(port, options);
    const count = hosts.length;
    await until(() => hosts.length > count, "the call came");
    stream.cut("enough");
  }
  assertEquals(hosts, [`sink.example:${port}`, `sink.example:${port}`]);
  for (const gate of gates) gate.destroy();
  await until(() => gates.every((gate) => gate.closed), "every gate is closed");
  hooked.close();
});

const REFUSALS: readonly (readonly [string, Answer, RegExp])[] = [
  [
    "407",
    (_, socket) => {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
    },
    /^the proxy refused: 407 Proxy Authentication Required$/,
  ],
  [
    "a status without a reason",
    (_, socket) => void socket.end("HTTP/1.0 502\r\n\r\n"),
    /^the proxy refused: 502$/,
  ],
  ["garbage", (_, socket) => void socket.write("SSH-2.0-x\r\n"), /^what answers is no HTTP proxy$/],
  [
    "something like HTTP",
    (_, socket) => void socket.write("HTTP/1.1 yes\r\n\r\n"),
    /^what answers is no HTTP proxy$/,
  ],
  [
    "a head without an end",
    (_, socket) => void socket.write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(2000)}`),
    /^the head of the proxy's answer is larger than 8192 bytes$/,
  ],
  [
    "an end",
    (_, socket) => void socket.end(),
    /^the proxy closed the connection without an answer$/,
  ],
  [
    "a reset",
    (_, socket) => void socket.resetAndDestroy(),
    /^the (proxy closed|connection to the)/,
  ],
];

for (const [what, answer, expected] of REFUSALS) {
  Deno.test(`dial target: a proxy that answers with ${what} is quoted`, async () => {
    await using proxy = await TestProxy.start(answer);
    const options = { proxy: { host: "127.0.0.1", port: proxy.port } };
    assertMatch(await reasonOf(dial(9901, options)), expected);
    await until(() => proxy.open === 0, "nothing is left");
  });
}

Deno.test("dial target: a proxy that never answers is left when the time is over", async () => {
  await using proxy = await TestProxy.start(() => {});
  const attempt = dial(
    9901,
    { proxy: { host: "127.0.0.1", port: proxy.port } },
    AbortSignal.timeout(100),
  );
  await assertRejects(() => attempt, DOMException);
  await until(() => proxy.open === 0, "nothing is left");
});

Deno.test("dial target: what comes right behind the proxy's answer is not lost", async () => {
  const opening = concat(settings());
  await using proxy = await TestProxy.start((_, socket) => {
    const head = new TextEncoder().encode("HTTP/1.1 200 OK\r\nX-Via: a\r\n\r\n");
    socket.write(concat(head, opening)); // SETTINGS in one piece with the answer
    socket.resume();
  });
  const stream = await dial(9901, { proxy: { host: "127.0.0.1", port: proxy.port } });
  stream.cut("enough");
  await until(() => proxy.open === 0, "nothing is left");
});
