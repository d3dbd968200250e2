import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { TlsFilesError } from "../../lib/transport/tls_files.ts";
import { TlsServer, type TlsServerOptions } from "../../lib/transport/tls_server.ts";
import { DAY, LONG_AGO, type Pair, stamp, TempFolder } from "./certificates.ts";
import { bytes } from "./frames.ts";
import { until } from "./sockets.ts";
import { authority, Bench, client, mutual, server } from "./tls_bench.ts";

Deno.test("tls: files rotated twice: a stream lives on, new handshakes get the new ones", async () => {
  await using bench = await Bench.open(mutual, { settle: 2000 });
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
  assertEquals([bench.problems, bench.security.status().problem], [[], undefined]);
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
    poll: 20,
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
  const early = await authority.issue({ names: "DNS:early.example", from: stamp(DAY) });
  const extensions = ["extendedKeyUsage=clientAuth"];
  const forClients = await authority.issue({ names: "DNS:a.example", extensions });
  const weak = await authority.issue({ rsa: 1024 });
  await using old = await authority.subordinate("Old", LONG_AGO, "20210101000000Z");
  const wrongs: readonly [Parameters<TempFolder["writeTls"]>[0], RegExp][] = [
    [{ key: other.key }, /tls\.key is not that of the certificate .*tls\.crt/],
    [{ key: "nonsense" }, /tls\.key holds no private key/],
    [{ cert: "nonsense" }, /tls\.crt holds no certificate/],
    [expired, /the new files are not used: .* expired on 2021-01-01/],
    [early, /the new files are not used: the certificate early.example is not valid before /],
    [forClients, /tls\.crt is none for servers: its extended key usage has no serverAuth/],
    [weak, /tls\.key is too weak: RSA of 1024 bits/],
    [{ ...server, ca: "nonsense" }, /ca\.crt holds no certificate/],
    [{ ca: other.cert }, /ca\.crt holds no authority: other.example may not issue/],
    [{ ca: old.cert }, /ca\.crt holds no authority that is still valid; one expired on 2021-01-01/],
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
  await until(() => one.closed && bench.said.length > 0, "refused");
  assertEquals(bench.said, ["handshake: the client showed no certificate"]);
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

Deno.test("tls: a certificate without its issuer is used, with a warning", async () => {
  await using bench = await Bench.open(mutual);
  await using intermediate = await authority.subordinate("Intermediate");
  const { cert, key } = await intermediate.issue({ names: "DNS:localhost" });
  await bench.folder.writeTls({ cert, key });
  await until(() => bench.problems.length > 0, "told");
  assertEquals(bench.problems[0]?.severity, "warning");
  assertMatch(bench.problems[0]!.message, /^clients may refuse localhost: its issuer CN=Intermedi/);
  await bench.folder.writeTls({ cert: cert + intermediate.cert });
  await until(() => bench.problems.at(-1) === undefined, "healed");
  await using _one = bench.dial(client);
  await until(() => bench.gates.length === 1, "handed over");
});

Deno.test("tls: a certificate or an authority that will be valid is said to be so; what is worse stays", async () => {
  await using folder = await (await TempFolder.create()).writeTls(mutual);
  let time = Date.parse("2020-06-01");
  await using security = await TlsServer.open({
    files: { kind: "folder", folder: folder.path },
    wallClock: () => time,
  });
  const message = () => security.status().problem?.message ?? "";
  assertMatch(message(), /^the certificate localhost is not valid before /);
  const { cert, key } = await authority.issue({ names: "DNS:b.example", from: LONG_AGO });
  await folder.writeTls({ cert, key });
  await security.reload(); // better than nothing
  assertMatch(message(), /ca\.crt holds no authority that is valid yet; one will be on /);
  time = Date.now();
  await security.reload();
  assertEquals(message(), "");
});

Deno.test("tls: a key file may hold more than the key", async () => {
  await using folder = await TempFolder.create();
  await folder.writeTls({ cert: server.cert, key: server.cert + server.key });
  const files = { kind: "folder", folder: folder.path } as const;
  await using security = await TlsServer.open({ files });
  assertEquals(security.status().subject, "localhost");
});

Deno.test("tls: what cannot work is refused at once, with what would", async () => {
  await using folder = await TempFolder.create();
  const files = { kind: "folder", folder: folder.path } as const;
  const opening = (options: Partial<TlsServerOptions> = {}) =>
    assertRejects(() => TlsServer.open({ files, ...options }), TlsFilesError);
  assertMatch((await opening()).message, /tls\.crt does not exist$/);
  await folder.writeTls({ cert: server.cert });
  assertMatch((await opening()).message, /^there is the certificate .*tls\.crt, but no key$/);
  await folder.writeTls({ key: server.key, ca: server.cert });
  assertMatch((await opening()).message, /ca\.crt holds no authority: localhost may not issue/);
  await Deno.remove(folder.at("ca.crt"));
  assertMatch((await opening({ allow: ["*"] })).message, /^`allow` is of no use without a ca/);
  const absent = { kind: "files", cert: folder.at("tls.crt"), key: folder.at("no.key") } as const;
  assertMatch((await opening({ files: absent })).message, /no\.key does not exist$/);
  const nowhere = { kind: "folder", folder: folder.at("nowhere") } as const;
  assertMatch((await opening({ files: nowhere })).message, /nowhere does not exist$/);
});
