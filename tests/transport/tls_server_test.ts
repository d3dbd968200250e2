import { assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { DAY, LONG_AGO, type Pair, stamp, TempFolder } from "./certificates.ts";
import { bytes, PREFACE } from "./frames.ts";
import { RawPeer, until } from "./sockets.ts";
import { authority, Bench, client, mutual, server, stranger } from "./tls_bench.ts";

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

const old = await authority.subordinate("Old", LONG_AGO, "20210101000000Z");
globalThis.addEventListener("unload", () => void old[Symbol.asyncDispose]());
const ofOld = await old.issue({ names: "DNS:a.example" });

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
    "one whose issuer expired",
    { cert: ofOld.cert + old.cert, key: ofOld.key },
    /^handshake: .* \(a.example\) does not count: the certificate of its issuer Old expired on 2021/,
  ],
  [
    "one for servers only",
    await authority.issue({ names: "DNS:a.example", extensions: ["extendedKeyUsage=serverAuth"] }),
    /^handshake: the client's certificate \(a.example\) is none for clients: .* no clientAuth$/,
  ],
];

for (const [what, pair, expected] of REFUSED) {
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    Deno.test(`tls: a client's certificate is needed: ${what} is refused, over ${maxVersion}`, async () => {
      await using bench = await Bench.open(mutual);
      await using one = bench.dial({ ...pair, maxVersion });
      await until(() => one.closed && bench.said.length > 0, "refused");
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
  const allow = ["spiffe://example.org/ns/mesh/*", "Mesh.Example"];
  await using bench = await Bench.open(mutual, { allow });
  await using one = bench.dial(client);
  await until(() => one.closed && bench.said.length > 0, "refused");
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

Deno.test("tls: a DNS name that looks like a URI lets nobody in, nor does a URI that ends as a DNS name", async () => {
  await using bench = await Bench.open(mutual, {
    allow: ["spiffe://example.org/ns/mesh/*", "*.example"],
  });
  for (
    const names of [
      "DNS:spiffe://example.org/ns/mesh/sa/x",
      "URI:spiffe://example.org/ns/a/sa/mesh.example",
    ]
  ) {
    const before = bench.said.length;
    await using one = bench.dial(await authority.issue({ names }));
    await until(() => one.closed && bench.said.length > before, "refused");
  }
  assertEquals(bench.gates.length, 0);
  await using _two = bench.dial(await authority.issue({ names: "DNS:mesh.example" }));
  await until(() => bench.gates.length === 1, "handed over");
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

for (const version of ["-tls1_2", "-tls1_3"]) {
  Deno.test(`tls: a client of an intermediate authority takes its session up again, over ${version}`, async () => {
    await using intermediate = await authority.subordinate("Intermediate");
    await using bench = await Bench.open(mutual);
    const own = await intermediate.issue({ names: "DNS:edge.example" });
    await using files = await (await TempFolder.create()).writeTls(own);
    const chain = await files.write("chain.crt", intermediate.cert);
    const whole = await files.write("whole.crt", own.cert + intermediate.cert);
    const session = files.at("session");
    for (const [at, sent] of [chain, whole].entries()) {
      const how = [version, "-cert_chain", sent];
      assertMatch(await resuming(bench.port, files, ["-sess_out", session, ...how]), /^New, /m);
      assertMatch(await resuming(bench.port, files, ["-sess_in", session, ...how]), /^Reused, /m);
      await until(() => bench.gates.length + bench.said.length === 2 * at + 2, "judged");
      assertEquals(bench.said, []);
      await Deno.remove(session);
    }
    await resuming(bench.port, files, ["-sess_out", session, version, "-cert_chain", chain]);
    await until(() => bench.gates.length === 5, "handed over");
    await bench.folder.writeTls({ ca: stranger.cert + authority.cert });
    await until(() => bench.rotations === 1, "in use");
    const again = await resuming(bench.port, files, ["-sess_in", session, version]);
    assertMatch(again, /^Reused, /m);
    await until(() => bench.gates.length + bench.said.length === 6, "judged");
    assertEquals(bench.said, []);
    await bench.folder.writeTls({ ca: stranger.cert });
    await until(() => bench.rotations === 2, "in use");
    await resuming(bench.port, files, ["-sess_in", session, version, "-cert_chain", chain]);
    await until(() => bench.said.length === 1, "refused");
    assertEquals(bench.gates.length, 6);
  });
}

/** A client that takes its session up again, as Envoy does; gives what it says of it. */
async function resuming(
  port: number,
  files: TempFolder,
  session: readonly string[],
): Promise<string> {
  const own = ["-cert", files.at("tls.crt"), "-key", files.at("tls.key")];
  const version = session.some((one) => one.startsWith("-tls")) ? [] : ["-tls1_2"];
  const args = ["s_client", "-connect", `127.0.0.1:${port}`, ...version, "-alpn", "h2", ...own];
  const command = new Deno.Command("openssl", {
    args: [...args, ...session],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  });
  const child = command.spawn();
  const input = child.stdin.getWriter();
  await input.write(PREFACE);
  if (session[0] === "-sess_out") { // over TLS 1.3 the session comes after the handshake
    await until(() => existsSync(session[1]!), "there is a session");
  }
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
