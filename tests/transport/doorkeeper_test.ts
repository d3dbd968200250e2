import net from "node:net";
import { assertEquals } from "@std/assert";
import { ConnectionRoom } from "../../lib/transport/connection_room.ts";
import { Doorkeeper } from "../../lib/transport/doorkeeper.ts";
import type { ListenOptions } from "../../lib/transport/listener.ts";
import { ClientLeftError } from "../../lib/transport/server_handshake.ts";
import { settle } from "./fakes.ts";
import { now } from "./sockets.ts";

/** A door before which connections stay half-open, and whom it turned away. */
class Bench implements AsyncDisposable {
  readonly refused: string[] = [];
  readonly #sockets: net.Socket[] = [];
  readonly #door: Doorkeeper;

  constructor(options: Partial<ListenOptions>) {
    this.#door = new Doorkeeper({ inject() {} }, {
      now,
      secure: (socket) =>
        // a handshake that does not go on
        new Promise((_, reject) => socket.once("close", () => reject(new ClientLeftError("gone")))),
      hooks: { refused: (reason, address) => void this.refused.push(`${reason} ${address}`) },
      prefaceDeadline: 60_000,
      ...options,
    });
  }

  open(address: string, count = 1): net.Socket[] {
    return Array.from({ length: count }, () => {
      const socket = new net.Socket();
      Object.defineProperty(socket, "remoteAddress", { value: address });
      this.#sockets.push(socket);
      this.#door.admit(socket);
      return socket;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#door.close();
    for (const socket of this.#sockets) socket.destroy();
    await settle();
  }
}

for (const cap of ["unfinished", "connections"] as const) {
  Deno.test(`doorkeeper: an address that leaves connections half-open keeps no other out: ${cap}`, async () => {
    const room = new ConnectionRoom(cap === "connections" ? 100 : Infinity);
    await using bench = new Bench({ maxUnfinished: cap === "unfinished" ? 100 : 1000, room });
    const hog = bench.open("192.0.2.1", 100);
    assertEquals(bench.refused, []);
    const [other] = bench.open("192.0.2.2");
    assertEquals([other!.destroyed, hog[0]!.destroyed, hog[1]!.destroyed], [false, true, false]);
    assertEquals(bench.refused, ["unfinished 192.0.2.1"]);
    const [again] = bench.open("192.0.2.1");
    assertEquals(again!.destroyed, true);
    assertEquals(bench.refused.at(-1), `${cap} 192.0.2.1`);
    await settle();
    assertEquals(room.taken, 100, "what gave way is counted off once");
  });
}

Deno.test("doorkeeper: where many addresses have few each, those that came first go on", async () => {
  await using bench = new Bench({ maxUnfinished: 100, room: new ConnectionRoom(Infinity) });
  for (let i = 0; i < 20; i++) bench.open(`192.0.2.${i}`, 5);
  const [late] = bench.open("198.51.100.1");
  assertEquals(late!.destroyed, true);
  assertEquals(bench.refused, ["unfinished 198.51.100.1"]);
});
