import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Listeners, type PortObserver } from "../../lib/cli/listeners.ts";
import { refuseIdle } from "../../lib/cli/waiting_port.ts";
import { ConnectionRoom } from "../../lib/transport/connection_room.ts";
import { ListenError } from "../../lib/transport/listener.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { Authority, DAY, stamp, TempFolder } from "../transport/certificates.ts";
import { PREFACE } from "../transport/frames.ts";
import { now, RawPeer, until } from "../transport/sockets.ts";

const quiet = () => {};

const QUIET: PortObserver = {
  tlsProblem: quiet,
  rotated: quiet,
  exposed: quiet,
  dead: quiet,
  revived: quiet,
  waits: quiet,
  opened: quiet,
};

const PORT = {
  address: "127.0.0.1:0",
  certificate: "require",
  allow: [],
  insecure: false,
  unproven: false,
} as const;

function makeListeners(room: ConnectionRoom, server: PushServer, refused: string[]): Listeners {
  return new Listeners({
    server,
    room,
    folder: Deno.cwd(),
    hooks: { refused: (reason) => void refused.push(reason) },
    ports: QUIET,
  });
}

/** A connection to a loopback port, past its preface. */
function dial(listeners: Listeners): RawPeer {
  const peer = new RawPeer(Number(/\d+$/.exec(listeners.ports[0]!.address)![0]));
  peer.socket.write(PREFACE);
  return peer;
}

Deno.test("listeners: those of peers and those of sources share one room of connections", async () => {
  const room = new ConnectionRoom(2);
  const refused: string[] = [];
  await using peers = new PushServer({ now });
  await using sources = new PushServer({ now });
  await using listen = makeListeners(room, peers, refused);
  await using receive = makeListeners(room, sources, refused);
  await listen.configure([PORT]);
  await receive.configure([PORT]);
  await using _one = dial(listen);
  await using _two = dial(receive);
  await until(() => peers.connections + sources.connections === 2, "both are let in");
  await using third = dial(listen);
  await using fourth = dial(receive);
  await until(() => third.closed && fourth.closed, "there is no room for more");
  assertEquals(refused, ["connections", "connections"]);
});

Deno.test("listeners: a port without TLS files that can be used waits for them, the others are open", async () => {
  await using authority = await Authority.create("test");
  await using files = await TempFolder.create();
  await using server = new PushServer({ now });
  const told: string[] = [];
  await using listeners = new Listeners({
    server,
    folder: files.path,
    hooks: {},
    ports: {
      ...QUIET,
      waits: (address, reason) => void told.push(`${address} waits: ${reason}`),
      opened: (address) => void told.push(`${address} opened`),
    },
    retry: 10,
  });
  const secure = { ...PORT, address: "localhost:0", tls: { kind: "folder", folder: "." } } as const;
  await listeners.configure([secure, PORT]);
  const [waiting, open] = listeners.ports;
  assertEquals([waiting!.alive, open!.alive], [false, true]);
  assertEquals([waiting!.address, waiting!.configured], ["localhost:0", "localhost:0"]);
  assertMatch(waiting!.waits!, /^cannot listen on localhost:0 with TLS: .*tls\.crt does not exist/);
  assertEquals(told, [`localhost:0 waits: ${waiting!.waits}`]);

  const pair = await authority.issue({ names: "DNS:localhost" });
  await files.writeTls({ key: pair.key });
  await until(() => told.length === 2, "another reason is told");
  assertMatch(told[1]!, /waits: .* there is the key .*, but no certificate/);
  await files.writeTls({ cert: pair.cert });
  await until(() => listeners.ports[0]!.alive, "it is open");
  assertEquals(told.slice(2), ["localhost:0 opened"]);
  const [opened, other] = listeners.ports;
  assertEquals(opened!.waits, undefined);
  assertEquals(opened!.tls?.subject, "localhost");
  assertEquals(other!.address, open!.address); // it was left alone
});

Deno.test("listeners: what waits can be taken away, and an address in use is no reason to wait", async () => {
  await using server = new PushServer({ now });
  await using listeners = new Listeners({ server, folder: "/", hooks: {}, ports: QUIET, retry: 5 });
  const waiting = { ...PORT, tls: { kind: "folder", folder: "no-such-folder" } } as const;
  await listeners.configure([waiting]);
  assertEquals(listeners.ports.length, 1);
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const inUse = { ...PORT, address: `127.0.0.1:${taken.addr.port}` };
  await assertRejects(() => listeners.configure([waiting, inUse]), ListenError, "already in use");
  await listeners.configure([]);
  assertEquals(listeners.ports, []);
});

Deno.test("listeners: what a port waits for may change, and what its files are in want of is said once", async () => {
  await using authority = await Authority.create("test");
  await using files = await TempFolder.create();
  await using server = new PushServer({ now });
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const reasons: string[] = [];
  const problems: string[] = [];
  await using listeners = new Listeners({
    server,
    folder: files.path,
    hooks: {},
    ports: {
      ...QUIET,
      waits: (_, reason) => void reasons.push(reason),
      tlsProblem: (_, problem) => void problems.push(problem?.message ?? "none"),
    },
    retry: 10,
  });
  const address = `127.0.0.1:${taken.addr.port}`;
  await listeners.configure([{ ...PORT, address, tls: { kind: "folder", folder: "." } }]);
  await files.writeTls(await authority.issue({ names: "DNS:localhost", to: stamp(DAY) }));
  await until(() => /already in use/.test(reasons.at(-1)!), "its files are good");
  taken.close();
  await until(() => listeners.ports[0]!.alive, "it is open");
  assertEquals(problems.filter((one) => /expires on/.test(one)).length, 1, problems.join());
});

Deno.test("listeners: where every port waits and nobody is dialled there is nothing to start for", () => {
  const [open, waits] = [{}, { waits: "cannot listen on a:1" }];
  const none = { sinks: [], pull: [] };
  const sink = { name: "a", address: "a:1", headers: {}, heartbeat: 1, collections: [], wave: 1 };
  refuseIdle({ listen: [], receive: [] }, none);
  refuseIdle({ listen: [waits], receive: [open] }, none);
  refuseIdle({ listen: [waits, open], receive: [] }, none);
  refuseIdle({ listen: [waits], receive: [waits] }, { sinks: [sink], pull: [] });
  const idle = (ports: Parameters<typeof refuseIdle>[0]) => {
    try {
      refuseIdle(ports, none);
    } catch (error) {
      return error instanceof ListenError ? error.message : error;
    }
  };
  assertEquals(
    idle({ listen: [waits], receive: [waits] }),
    "cannot listen on a:1; `listen` in the configuration changes it",
  );
  assertEquals(
    idle({ listen: [], receive: [waits] }),
    "cannot listen on a:1; `receive` in the configuration changes it",
  );
});
