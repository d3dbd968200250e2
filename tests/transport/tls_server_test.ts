import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import net from "node:net";
import tls from "node:tls";
import type { Gate } from "../../lib/transport/gate.ts";
import { listen, type Listener, type ListenOptions } from "../../lib/transport/listener.ts";
import { TlsFilesError } from "../../lib/transport/tls_files.ts";
import {
  type TlsProblem,
  TlsServer,
  type TlsServerOptions,
} from "../../lib/transport/tls_server.ts";
import { Authority, DAY, LONG_AGO, type Pair, stamp, TempFolder } from "./certificates.ts";
import { bytes, PREFACE } from "./frames.ts";
import { now, RawPeer, until } from "./sockets.ts";

const authority = await Authority.create("Test Authority");
const stranger = await Authority.create("Other Authority");
globalThis.addEventListener("unload", () => {
  void authority[Symbol.asyncDispose]();
  void stranger[Symbol.asyncDispose]();
});
const server = await authority.issue({ names: "DNS:localhost" });
const client = await authority.issue({
  names: "URI:spiffe://example.org/ns/edge/sa/fra, DNS:Edge.example",
});

/** A listener with TLS whose connections go nowhere, and everything it said. */
class Bench implements AsyncDisposable {
  readonly said: string[] = [];
  readonly gates: Gate[] = [];
  readonly problems: (TlsProblem | undefined)[] = [];
  rotations = 0;
  readonly folder: TempFolder;
  readonly security: TlsServer;
  readonly #listener: Listener;

  private constructor(folder: TempFolder, security: TlsServer, listener: Listener) {
    this.folder = folder;
    this.security = security;
    this.#listener = listener;
  }

  static async open(
    material: Partial<Pair> & { readonly ca?: string },
    options: Partial<TlsServerOptions & ListenOptions> = {},
  ): Promise<Bench> {
    const folder = await (await TempFolder.create()).writeTls(material);
    const later: { bench?: Bench } = {};
    const security = await TlsServer.open({
      files: { kind: "folder", folder: folder.path },
      poll: 20,
      onProblem: (problem) => later.bench?.problems.push(problem),
      onRotated: () => later.bench && later.bench.rotations++,
      ...options,
    });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, {
      inject: (gate) => void later.bench?.gates.push(gate),
    }, {
      now,
      secure: security.secure,
      hooks: {
        refused: (reason, _, detail) => void later.bench?.said.push(`${reason}: ${detail}`),
        violation: ({ reason }) => void later.bench?.said.push(`violation ${reason}`),
      },
      ...options,
    });
    return later.bench = new Bench(folder, security, listener);
  }

  get port(): number {
    return this.#listener.address.port;
  }

  /** A client that sends the preface once its handshake is done. */
  dial(options: tls.ConnectionOptions = {}): Client {
    return new Client(this.port, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.security[Symbol.asyncDispose]();
    for (const gate of this.gates) gate.destroy();
    await until(() => this.gates.every((gate) => gate.closed), "every gate is closed");
    await this.folder[Symbol.asyncDispose]();
  }
}

class Client implements AsyncDisposable {
  readonly socket: tls.TLSSocket;
  received = "";
  error = "";
  closed = false;

  constructor(port: number, options: tls.ConnectionOptions) {
    const raw = net.connect({ port, host: "127.0.0.1" });
    raw.on("error", () => {});
    this.socket = tls.connect({
      socket: raw,
      servername: "localhost",
      ca: authority.cert,
      ALPNProtocols: ["h2"],
      ...options,
    });
    this.socket.once("secureConnect", () => this.socket.write(PREFACE));
    this.socket.on("data", (data) => this.received += data.toString("latin1"));
    this.socket.on("error", (error) => this.error = error.message);
    this.socket.on("close", () => this.closed = true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await until(() => this.closed, "the client is closed");
  }
}

const mutual = { ...server, ca: authority.cert };

Deno.test("tls: without a ca clients need no certificate, and have no identity", async () => {
  await using bench = await Bench.open(server);
  await using one = bench.dial();
  await until(() => bench.gates.length === 1, "handed over");
  assertEquals(one.socket.alpnProtocol, "h2");
  assertEquals(bench.gates[0]!.identity, undefined);
  assertEquals(bench.security.status().clients, "none");
  bench.gates[0]!.write(bytes(100_000));
  await until(() => one.received.length === 100_000, "bytes pass");
});

Deno.test("tls: with a ca a client is who its certificate says", async () => {
  await using bench = await Bench.open(mutual);
  await using _one = bench.dial(client);
  await until(() => bench.gates.length === 1, "handed over");
  assertEquals(bench.gates[0]!.identity, {
    uris: ["spiffe://example.org/ns/edge/sa/fra"],
    dnsNames: ["edge.example"],
  });
  assertEquals([bench.said, bench.security.status().clients], [[], "require"]);
});

Deno.test("tls: a certificate cannot pass text off as a further name", async () => {
  await using bench = await Bench.open(mutual);
  const forged = await authority.issue({
    extensions: ["subjectAltName=@n\n[n]\nURI.1=spiffe://example.org/x, DNS:admin.example"],
  });
  await using _one = bench.dial(forged);
  await until(() => bench.gates.length === 1, "handed over");
  assertEquals(bench.gates[0]!.identity, { uris: [], dnsNames: [] });
});

const REFUSED: readonly (readonly [string, Pair | Record<never, never>, RegExp])[] = [
  ["none", {}, /^handshake: the client showed no certificate$/],
  [
    "one of an unknown authority",
    await stranger.issue({ names: "URI:spiffe://example.org/ns/edge/sa/fra" }),
    /^handshake: the client's certificate \(spiffe:\/\/example.org\/ns\/edge\/sa\/fra\) is not signed by/,
  ],
  [
    "one that expired",
    await authority.issue({ names: "DNS:old.example", from: LONG_AGO, to: "20210101000000Z" }),
    /^handshake: the client's certificate \(old.example\) expired on 2021-01-01T00:00:00Z$/,
  ],
  [
    "one not yet valid",
    await authority.issue({ names: "DNS:new.example", from: stamp(DAY) }),
    /^handshake: the client's certificate \(new.example\) is not valid before /,
  ],
  [
    "one for servers only",
    await authority.issue({ names: "DNS:a.example", extensions: ["extendedKeyUsage=serverAuth"] }),
    /^handshake: the client's certificate \(a.example\) is not signed by .* or not for clients$/,
  ],
];

for (const [what, pair, expected] of REFUSED) {
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    Deno.test(`tls: a client's certificate is needed: ${what} is refused, over ${maxVersion}`, async () => {
      await using bench = await Bench.open(mutual);
      await using one = bench.dial({ ...pair, maxVersion });
      await until(() => one.closed, "refused");
      assertMatch(bench.said.join("\n"), expected);
      assertEquals(bench.gates, []);
      assertMatch(one.received, /certificate/); // in the GOAWAY
    });
  }
}

Deno.test("tls: where a certificate is only asked for, none will do, but no bad one", async () => {
  await using bench = await Bench.open(mutual, { certificate: "request" });
  await using _none = bench.dial();
  await until(() => bench.gates.length === 1, "handed over");
  assertEquals(bench.gates[0]!.identity, undefined);
  await using bad = bench.dial(await stranger.issue({ names: "DNS:a.example" }));
  await until(() => bad.closed, "refused");
  await using _good = bench.dial(client);
  await until(() => bench.gates.length === 2, "handed over");
  assertEquals(bench.gates[1]!.identity?.dnsNames, ["edge.example"]);
});

Deno.test("tls: who is not allowed is refused by name, and told so", async () => {
  const allow = ["spiffe://example.org/ns/mesh/*", "mesh.example"];
  await using bench = await Bench.open(mutual, { allow });
  await using one = bench.dial(client);
  await until(() => one.closed, "refused");
  assertEquals(bench.said, [
    "allow: spiffe://example.org/ns/edge/sa/fra, edge.example is none of those allowed",
  ]);
  assertMatch(one.received, /none of your certificate's names may connect here/);
  await using _two = bench.dial(await authority.issue({ names: "DNS:mesh.example" }));
  await using _three = bench.dial(
    await authority.issue({ names: "URI:spiffe://example.org/ns/mesh/sa/x" }),
  );
  await until(() => bench.gates.length === 2, "both are handed over");
});

Deno.test("tls: a plaintext client and TLS 1.1 are refused with the reason", async () => {
  await using bench = await Bench.open(server);
  await using plain = new RawPeer(bench.port);
  plain.socket.write(PREFACE);
  await until(() => plain.closed, "refused");
  await using old = new RawPeer(bench.port);
  old.socket.write(clientHello11());
  await until(() => old.closed, "refused");
  assertEquals(bench.said.length, 2);
  assertEquals(bench.said[0], "handshake: the client does not speak TLS");
  assertMatch(bench.said[1]!, /^handshake: /);
  assertEquals(bench.gates, []);
});

Deno.test("tls: a probe that connects and leaves is nobody to refuse; a slow handshake is", async () => {
  await using bench = await Bench.open(server, { prefaceDeadline: 100 });
  await using probe = new RawPeer(bench.port);
  await until(() => !probe.socket.connecting, "connected");
  probe.socket.end();
  await until(() => probe.closed, "gone");
  assertEquals(bench.said, []);
  await using slow = new RawPeer(bench.port);
  slow.socket.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1)); // the first bytes of a ClientHello
  await until(() => slow.closed, "dropped");
  assertEquals(bench.said, ["deadline: undefined"]);
});

Deno.test("tls: a client that does not trust us is named as the cause", async () => {
  await using bench = await Bench.open(server);
  await using one = bench.dial({ ca: stranger.cert });
  await until(() => one.closed && bench.said.length > 0, "given up");
  assertMatch(bench.said[0]!, /^handshake: the client does not accept our certificate/);
});

Deno.test("tls: files rotated twice: a stream lives on, new handshakes get the new ones", async () => {
  await using bench = await Bench.open(mutual);
  await using first = bench.dial(client);
  await until(() => bench.gates.length === 1, "handed over");
  const [second, third] = [
    await authority.issue({ names: "DNS:localhost, DNS:second.example" }),
    await authority.issue({ names: "DNS:localhost, DNS:third.example" }),
  ];
  const shown: (string | undefined)[] = [];
  for (const [at, pair] of [second, third].entries()) {
    await bench.folder.writeTls(pair);
    await until(() => bench.rotations === at + 1, "in use");
    await using one = bench.dial(client);
    await until(() => bench.gates.length === at + 2, "handed over");
    shown.push(one.socket.getPeerCertificate().subjectaltname);
  }
  assertEquals(shown, [
    "DNS:localhost, DNS:second.example",
    "DNS:localhost, DNS:third.example",
  ]);
  bench.gates[0]!.write(bytes(1000));
  await until(() => first.received.length === 1000, "the first still lives");
  assertEquals(bench.problems.filter((problem) => problem?.severity === "error").length <= 2, true);
  assertEquals(bench.security.status().problem, undefined);
});

Deno.test("tls: a swap of Kubernetes' ..data link counts as a change", async () => {
  await using folder = await TempFolder.create();
  const put = async (name: string, pair: Pair) => {
    await Deno.mkdir(folder.at(name));
    await Deno.writeTextFile(folder.at(`${name}/tls.crt`), pair.cert);
    await Deno.writeTextFile(folder.at(`${name}/tls.key`), pair.key);
    await Deno.symlink(name, folder.at("..data_tmp"));
    await Deno.rename(folder.at("..data_tmp"), folder.at("..data"));
  };
  await put("..1", server);
  for (const name of ["tls.crt", "tls.key"]) {
    await Deno.symlink(`..data/${name}`, folder.at(name));
  }
  let rotated = "";
  await using security = await TlsServer.open({
    files: { kind: "folder", folder: folder.path },
    poll: 600_000, // only events
    onRotated: ({ subject }) => rotated = subject,
  });
  assertEquals(security.status().subject, "localhost");
  await put("..2", await authority.issue({ names: "DNS:swapped.example" }));
  await until(() => rotated !== "", "noticed");
  assertEquals([rotated, security.status().subject], ["swapped.example", "swapped.example"]);
});

Deno.test("tls: what does not fit keeps the last good files in use, is told once, and heals", async () => {
  await using bench = await Bench.open(mutual);
  const other = await authority.issue({ names: "DNS:other.example" });
  const expired = await authority.issue({ from: LONG_AGO, to: "20210101000000Z" });
  const wrongs: readonly [Parameters<TempFolder["writeTls"]>[0], RegExp][] = [
    [{ key: other.key }, /tls\.key is not that of the certificate .*tls\.crt/],
    [{ key: "nonsense" }, /tls\.key holds no private key/],
    [{ cert: "nonsense" }, /tls\.crt holds no certificate/],
    [expired, /the new certificate .* expired on 2021-01-01/],
    [{ ...server, ca: "nonsense" }, /ca\.crt holds no certificate/],
  ];
  for (const [wrong, expected] of wrongs) {
    await bench.folder.writeTls(wrong);
    const told = () => expected.test(bench.problems.at(-1)?.message ?? "");
    await until(told, `told: ${expected}`);
    await using _one = bench.dial(client);
    const count = bench.gates.length;
    await until(() => bench.gates.length === count + 1, "the last good ones are in use");
  }
  assertEquals(bench.security.status().problem?.severity, "error");
  await bench.folder.writeTls(mutual);
  await until(() => bench.security.status().problem === undefined, "healed");
  assertEquals([bench.problems.at(-1), bench.rotations], [undefined, 0]);
});

Deno.test("tls: a ca.crt that vanishes does not let clients in without certificates", async () => {
  await using bench = await Bench.open(mutual);
  await Deno.remove(bench.folder.at("ca.crt"));
  await until(() => bench.problems.length > 0, "told");
  assertMatch(bench.problems[0]!.message, /ca\.crt is gone; clients are still asked/);
  await using one = bench.dial();
  await until(() => one.closed, "refused");
  assertEquals(bench.said, ["handshake: the client showed no certificate"]);
});

Deno.test("tls: another ca counts at once, for sessions that are taken up again too", async () => {
  await using bench = await Bench.open(mutual);
  await using files = await (await TempFolder.create()).writeTls(client);
  const session = files.at("session");
  assertMatch(await resuming(bench.port, files, ["-sess_out", session]), /^New, /m);
  assertMatch(await resuming(bench.port, files, ["-sess_in", session]), /^Reused, /m);
  await until(() => bench.gates.length === 2, "both were handed over");
  assertEquals(bench.gates.map((gate) => gate.identity?.dnsNames), [
    ["edge.example"],
    ["edge.example"],
  ]);
  await bench.folder.writeTls({ ca: stranger.cert });
  await until(() => bench.rotations === 1, "in use");
  assertMatch(await resuming(bench.port, files, ["-sess_in", session]), /^Reused, /m);
  await until(() => bench.said.length === 1, "refused");
  assertMatch(bench.said[0]!, /is not signed by an authority that is trusted here/);
  assertEquals(bench.gates.length, 2);
});

Deno.test("tls: a certificate that expires within a week is worth a warning, an expired one an error", async () => {
  const folder = await (await TempFolder.create()).writeTls(
    await authority.issue({ names: "DNS:localhost", to: stamp(3 * DAY) }),
  );
  await using _ = folder;
  let time = Date.now();
  await using security = await TlsServer.open({
    files: { kind: "folder", folder: folder.path },
    wallClock: () => time,
  });
  const { problem, notAfter } = security.status();
  assertEquals(problem?.severity, "warning");
  assertMatch(problem!.message, /^the certificate localhost expires on /);
  assert(Math.abs(notAfter - Date.now() - 3 * DAY) < 60_000);
  time += 4 * DAY;
  await security.reload();
  assertMatch(security.status().problem!.message, /^the certificate localhost expired on /);
  assertEquals(security.status().problem!.severity, "error");
});

Deno.test("tls: what cannot work is refused at once, with what would", async () => {
  await using folder = await TempFolder.create();
  const files = { kind: "folder", folder: folder.path } as const;
  const opening = (options: Partial<TlsServerOptions> = {}) =>
    assertRejects(() => TlsServer.open({ files, ...options }), TlsFilesError);
  assertMatch((await opening()).message, /tls\.crt does not exist$/);
  await folder.writeTls({ cert: server.cert });
  assertMatch((await opening()).message, /^there is the certificate .*tls\.crt, but no key$/);
  await folder.writeTls({ key: server.key });
  assertMatch((await opening({ allow: ["*"] })).message, /^`allow` is of no use without a ca/);
  const absent = { kind: "files", cert: folder.at("tls.crt"), key: folder.at("no.key") } as const;
  assertMatch((await opening({ files: absent })).message, /no\.key does not exist$/);
  const nowhere = { kind: "folder", folder: folder.at("nowhere") } as const;
  assertMatch((await opening({ files: nowhere })).message, /nowhere does not exist$/);
});

/** A client that takes its session up again, as Envoy does; gives what it says of it. */
async function resuming(port: number, files: TempFolder, session: string[]): Promise<string> {
  const own = ["-cert", files.at("tls.crt"), "-key", files.at("tls.key")];
  const args = ["s_client", "-connect", `127.0.0.1:${port}`, "-tls1_2", "-alpn", "h2", ...own];
  const command = new Deno.Command("openssl", {
    args: [...args, ...session],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  });
  const child = command.spawn();
  const input = child.stdin.getWriter();
  await input.write(PREFACE);
  await input.close(); // it sends the preface and leaves
  return new TextDecoder().decode((await child.output()).stdout);
}

/** A ClientHello that offers TLS 1.1 and nothing newer. */
function clientHello11(): Uint8Array {
  const suites = [0xc0, 0x09, 0xc0, 0x13, 0x00, 0x2f];
  const body = [3, 2, ...bytes(32), 0, 0, suites.length, ...suites, 1, 0];
  const hello = [1, 0, 0, body.length, ...body];
  return Uint8Array.from([0x16, 3, 1, 0, hello.length, ...hello]);
}
