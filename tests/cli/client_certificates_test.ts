import { assertEquals, assertMatch } from "@std/assert";
import { ClientCertificates, clientUses } from "../../lib/cli/client_certificates.ts";
import type { ClientTlsSettings, PullSettings, SinkSettings } from "../../lib/model/settings.ts";
import { until } from "../interop/lib/wait.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { Authority, DAY, stamp, TempFolder } from "../transport/certificates.ts";
import { pinnace } from "./command.ts";
import { Running, sourceLaunch } from "./running.ts";

const authority = await Authority.create("test");
globalThis.addEventListener("unload", () => void authority[Symbol.asyncDispose]());

const NAME = "spiffe://example.org/edge";
const OURS = { names: `URI:${NAME}` };

/** Sleeps as it is told, and knows what day it is. */
class Calendar extends FakeClock {
  ahead = 0;

  override now(): number {
    return Date.now() + this.ahead;
  }
}

function sink(name: string, tls?: ClientTlsSettings): SinkSettings {
  const dial = { name, address: "sink.example:9901", headers: {}, heartbeat: 30_000 };
  return { ...dial, collections: [], wave: 1, ...(tls === undefined ? {} : { tls }) };
}

function pull(tls: ClientTlsSettings): PullSettings {
  const url = "xds://hub.example:15010";
  return { url, address: "hub.example:15010", headers: {}, namespaces: [], tls };
}

const folder = (path: string): ClientTlsSettings => ({ files: { kind: "folder", folder: path } });

Deno.test("client certificates: looked for where one of ours may be shown", () => {
  const settings = {
    ...SETTINGS,
    sinks: [
      sink("plain"),
      sink("system", { files: { kind: "files" } }),
      sink("trusting", { files: { kind: "files", ca: "ca.crt" } }),
      sink("proving", { files: { kind: "files", cert: "a.crt", key: "a.key" } }),
    ],
    pull: [pull(folder("hub"))],
  };
  assertEquals(clientUses(settings, "/etc/pinnace"), [
    {
      use: "sink proving",
      files: { kind: "files", cert: "/etc/pinnace/a.crt", key: "/etc/pinnace/a.key" },
    },
    {
      use: "pull xds://hub.example:15010",
      files: { kind: "folder", folder: "/etc/pinnace/hub" },
    },
  ]);
});

Deno.test("client certificates: looked at once a minute, and no more often", async () => {
  await using files = await TempFolder.create();
  await files.writeTls({ ...await authority.issue(OURS), ca: authority.cert });
  const clock = new Calendar();
  using certificates = new ClientCertificates(clock);
  certificates.configure([{ use: "sink mesh-a", files: folder(files.path).files }]);
  await until("it was looked at", () => clock.sleeping === 1);
  const first = certificates.list()[0]!;
  assertEquals([first.use, first.subject, first.problem], ["sink mesh-a", NAME, undefined]);

  await files.writeTls(await authority.issue({ ...OURS, to: stamp(90 * DAY) }));
  await clock.advance(59_000);
  assertEquals(certificates.list(), [first]);
  await clock.advance(1000);
  await until("it was looked at again", () => clock.sleeping === 1);
  assertEquals(certificates.list()[0]!.notAfter! - first!.notAfter! > 50 * DAY, true);
});

Deno.test("client certificates: what cannot be read is said, with what was there before", async () => {
  await using files = await TempFolder.create();
  const clock = new Calendar();
  using certificates = new ClientCertificates(clock);
  const uses = [
    { use: "sink gone", files: folder(files.at("nowhere")).files },
    { use: "sink mesh-a", files: folder(files.path).files },
  ];
  certificates.configure(uses);
  await until("they were looked at", () => clock.sleeping === 1);
  const gone = { use: "sink gone", problem: `${files.at("nowhere")} does not exist` };
  assertEquals(certificates.list(), [gone]); // the other folder is there, and has none

  const { cert, key } = await authority.issue(OURS);
  await files.writeTls({ cert, key });
  await clock.advance(60_000);
  await until("they were looked at", () => clock.sleeping === 1);
  assertEquals(certificates.list().map(({ subject }) => subject), [undefined, NAME]);

  await files.writeTls({ key: (await authority.issue(OURS)).key });
  await clock.advance(60_000);
  await until("they were looked at", () => clock.sleeping === 1);
  const broken = certificates.list()[1]!;
  assertEquals(broken.subject, NAME);
  assertMatch(String(broken.problem), /^the key \S+tls\.key is not that of the certificate/);

  certificates.configure([]);
  assertEquals([certificates.list(), clock.sleeping], [[], 0]);
});

Deno.test("client certificates: one that has expired is a problem, and its end is known", async () => {
  await using files = await TempFolder.create();
  await files.writeTls(await authority.issue(OURS));
  const clock = new Calendar();
  using certificates = new ClientCertificates(clock);
  certificates.configure([{ use: "sink mesh-a", files: folder(files.path).files }]);
  await until("it was looked at", () => clock.sleeping === 1);
  clock.ahead = 31 * DAY;
  const { notAfter, problem } = certificates.list()[0]!;
  assertEquals(notAfter! < clock.now(), true);
  assertMatch(String(problem), /^the certificate spiffe:\/\/example\.org\/edge expired on 20/);
});

Deno.test("client certificates: the status of a running Pinnace has them, beside who dials what", async () => {
  await using files = await TempFolder.create();
  await files.writeTls({ ...await authority.issue(OURS), ca: authority.cert });
  await using running = await Running.start(
    await sourceLaunch(),
    [
      `sinks: [{ name: mesh-a, address: "127.0.0.1:1", tls: "${files.path}" }]`,
      `include: [{ xds: "127.0.0.1:1", tls: "${files.at("nowhere")}" }]`,
      'receive: "127.0.0.1:0"',
      "services: []",
    ].join("\n"),
  );
  const { certificates, listen } = await until("both were looked at", async () => {
    const status = await running.status();
    return status.certificates.length === 2 && status;
  });
  assertEquals([certificates[0].use, certificates[0].subject], ["sink mesh-a", NAME]);
  assertEquals(certificates[1].problem, `${files.at("nowhere")} does not exist`);
  assertEquals(listen.map(({ use }: { use: string }) => use), ["peers", "sources"]);
  const { stdout } = await pinnace("status", "--admin", running.admin);
  assertMatch(stdout, /listening on 127\.0\.0\.1:\d+, taking from sources on 127\.0\.0\.1:\d+\n/);
  assertMatch(stdout, /certificate of sink mesh-a \(spiffe:\S+\) ends in 29d\w*\n/);
  assertMatch(stdout, /certificate of pull xds:\S+: \S+ does not exist\n/);
});
