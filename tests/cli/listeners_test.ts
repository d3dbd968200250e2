import { assertEquals } from "@std/assert";
import { Listeners } from "../../lib/cli/listeners.ts";
import { ConnectionRoom } from "../../lib/transport/connection_room.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { PREFACE } from "../transport/frames.ts";
import { now, RawPeer, until } from "../transport/sockets.ts";

const quiet = () => {};

function makeListeners(room: ConnectionRoom, server: PushServer, refused: string[]): Listeners {
  return new Listeners({
    server,
    room,
    folder: Deno.cwd(),
    hooks: { refused: (reason) => void refused.push(reason) },
    ports: { tlsProblem: quiet, rotated: quiet, exposed: quiet, dead: quiet, revived: quiet },
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
  const port = {
    address: "127.0.0.1:0",
    certificate: "require",
    allow: [],
    insecure: false,
    unproven: false,
  } as const;
  await listen.configure([port]);
  await receive.configure([port]);
  await using _one = dial(listen);
  await using _two = dial(receive);
  await until(() => peers.connections + sources.connections === 2, "both are let in");
  await using third = dial(listen);
  await using fourth = dial(receive);
  await until(() => third.closed && fourth.closed, "there is no room for more");
  assertEquals(refused, ["connections", "connections"]);
});
