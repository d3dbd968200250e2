/** Sinks in the real world: behind a proxy, behind TLS whose certificates are replaced, many behind one name. */
import { assert, assertEquals } from "@std/assert";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { Process } from "./lib/process.ts";
import { simple } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";

const PEERS = ["mcp-sink-server"];

const ONE = [simple("billing")];
const TWO = [simple("billing"), simple("ledger")];

/** Why the only link of the only sink is not up. */
async function lastError(pinnace: Pinnace): Promise<string | undefined> {
  const { sinks } = await pinnace.status() as {
    sinks: { links: { state: string; lastError?: string }[] }[];
  };
  return sinks[0]?.links[0]?.lastError;
}

/** Debian's tinyproxy, which lets those through who have the password, and to this port alone. */
async function tinyproxy(folder: TempFolder, connectPort: number) {
  const [port] = freePorts(1);
  const log = folder.at("tinyproxy.log");
  const config = await folder.write(
    "tinyproxy.conf",
    [
      `Port ${port}`,
      "Listen 127.0.0.1",
      "Timeout 600",
      `LogFile "${log}"`,
      "LogLevel Connect",
      "MaxClients 20",
      "Allow 127.0.0.1",
      "BasicAuth edge secret",
      `ConnectPort ${connectPort}`,
      "",
    ].join("\n"),
  );
  const process = Process.start({
    name: "tinyproxy",
    command: "tinyproxy",
    args: ["-d", "-c", config],
  });
  await process.expect("it listens", async () => {
    (await Deno.connect({ hostname: "127.0.0.1", port: port! })).close();
    return true;
  });
  return { process, port, requests: () => Deno.readTextFile(log) };
}

interopTest(
  "sink: through a CONNECT proxy with a password, in plaintext and in TLS",
  PEERS,
  async () => {
    await using folder = await TempFolder.create();
    await using authority = await Authority.create("sinks");
    const issued = await authority.issue({ names: "DNS:localhost, IP:127.0.0.1" });
    await folder.writeTls({ ...issued, ca: authority.cert });
    for (const secure of [false, true]) {
      const [port] = freePorts(1);
      const tls = { cert: folder.at("tls.crt"), key: folder.at("tls.key") };
      await using sink = await Sink.listening(`127.0.0.1:${port}`, secure ? { tls } : {});
      const proxy = await tinyproxy(folder, port!);
      await using _ = proxy.process;
      const target = (password: string) => ({
        name: "mesh",
        address: `localhost:${port}`,
        proxy: `http://edge:${password}@127.0.0.1:${proxy.port}`,
        ...(secure ? { tls: { ca: folder.at("ca.crt") } } : {}),
      });
      await using pinnace = await Pinnace.start({ services: ONE, sinks: [target("wrong")] });
      const reason = await pinnace.process.expect("it says why", () => lastError(pinnace));
      assert(/40[17]/.test(reason), reason);
      assertEquals(sink.streams, 0);
      await pinnace.write({ services: ONE, sinks: [target("secret")] });
      await sink.holds(["edge/billing"]);
      await pinnace.write({ services: TWO, sinks: [target("secret")] });
      await sink.holds(["edge/billing", "edge/ledger"]);
      assert((await proxy.requests()).includes(`CONNECT localhost:${port}`));
    }
  },
);

interopTest(
  "sink: mutual TLS whose certificates and authority are replaced while we run",
  PEERS,
  async () => {
    await using theirs = await TempFolder.create();
    await using ours = await TempFolder.create();
    const [port] = freePorts(1);
    const issue = async (authority: Authority) => {
      const names = "DNS:localhost";
      await theirs.writeTls({ ...await authority.issue({ names }), ca: authority.cert });
      await ours.writeTls({ ...await authority.issue({ names }), ca: authority.cert });
    };
    await using first = await Authority.create("first");
    await using second = await Authority.create("second");
    await issue(first);
    const tls = {
      cert: theirs.at("tls.crt"),
      key: theirs.at("tls.key"),
      clientCa: theirs.at("ca.crt"),
    };
    const sinks = [{ name: "mesh", address: `localhost:${port}`, tls: ours.path }];
    const shown: unknown[] = [];
    await using pinnace = await Pinnace.prepare({ services: ONE, sinks });
    {
      await using sink = await Sink.listening(`127.0.0.1:${port}`, { tls });
      await pinnace.run();
      await sink.holds(["edge/billing"]);
      // Replaced under a stream that lives: it goes on.
      await issue(second);
      await pinnace.write({ services: TWO, sinks });
      await sink.holds(["edge/billing", "edge/ledger"]);
      assertEquals(sink.streams, 1);
      shown.push(sink.opened[0]!.certificate);
    }
    await using sink = await Sink.listening(`127.0.0.1:${port}`, { tls });
    await sink.holds(["edge/billing", "edge/ledger"]);
    shown.push(sink.opened[0]!.certificate);
    assertEquals(shown.map((one) => (one as { issuer: string }).issuer), ["first", "second"]);

    // A sink that we do not trust gets nothing, and a person is told why.
    await sink.process[Symbol.asyncDispose]();
    await theirs.writeTls(await first.issue({ names: "DNS:localhost" }));
    await using impostor = await Sink.listening(`127.0.0.1:${port}`, { tls });
    const reason = await pinnace.process.expect("it says why", async () => {
      const found = await lastError(pinnace);
      return found !== undefined && /authority|issuer|certificate/i.test(found) && found;
    });
    assert(!reason.includes("ECONN"), reason);
    assertEquals(impostor.streams, 0);
  },
);

interopTest(
  "sink: three replicas behind one name, of which one hangs; replicas that go and come are followed",
  PEERS,
  async () => {
    await using folder = await TempFolder.create();
    const [port] = freePorts(1);
    const name = "replicas.interop.example";
    const point = async (...hosts: number[]) => {
      // In place: the file is mounted over /etc/hosts.
      const lines = [`127.0.0.1 localhost`, ...hosts.map((host) => `127.0.0.${host} ${name}`)];
      await Deno.writeTextFile(folder.at("hosts"), `${lines.join("\n")}\n`);
    };
    await point(2, 3, 4);
    const mount = `mount --bind ${folder.at("hosts")} /etc/hosts && exec "$@"`;
    const prefix = ["unshare", "--mount", "sh", "-c", mount, "sh"];
    await using a = await Sink.listening(`127.0.0.2:${port}`);
    await using b = await Sink.listening(`127.0.0.3:${port}`);
    await using c = await Sink.listening(`127.0.0.4:${port}`);
    await using d = await Sink.listening(`127.0.0.5:${port}`);
    const sinks = [{ name: "mesh", address: `${name}:${port}`, heartbeat: "2s" }];
    await using pinnace = await Pinnace.start({ services: ONE, sinks }, { prefix });
    for (const sink of [a, b, c]) await sink.holds(["edge/billing"]);
    c.process.signal("SIGSTOP");
    for (let change = 1; change <= 20; change++) {
      const services = [simple("billing"), simple(`change-${change}`)];
      await pinnace.write({ services, sinks });
      for (const sink of [a, b]) await sink.holds(["edge/billing", `edge/change-${change}`]);
    }
    c.process.signal("SIGCONT");
    await c.holds(["edge/billing", "edge/change-20"]);
    assert(c.changes().length < 10, "it got the newest state and no queue of old ones");

    await point(2, 3, 5);
    await d.holds(["edge/billing", "edge/change-20"]);
    await pinnace.process.expect("the replica that is gone is left alone", async () => {
      const { sinks } = await pinnace.status() as { sinks: { links: { address: string }[] }[] };
      const addresses = sinks[0]!.links.map(({ address }) => address).sort();
      return addresses.join() === [2, 3, 5].map((host) => `127.0.0.${host}:${port}`).join();
    });
  },
);
