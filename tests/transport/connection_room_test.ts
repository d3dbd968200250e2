import { assertEquals } from "@std/assert";
import { ConnectionRoom, type PortRoom } from "../../lib/transport/connection_room.ts";

/** How many a port gets until it is refused. */
function fill(port: PortRoom): number {
  let count = 0;
  while (count < 1000 && port.take()) count++;
  return count;
}

Deno.test("connection room: all ports together take no more than there is", () => {
  const room = new ConnectionRoom(100);
  const ports = [room.port(), room.port(), room.port()];
  for (let i = 0; i < 3000; i++) ports[i % 3]!.take();
  assertEquals([room.taken, ports.map((port) => port.take())], [100, [false, false, false]]);
  ports[1]!.give();
  assertEquals([ports[0]!.take(), ports[1]!.take(), room.taken], [true, false, 100]);
});

Deno.test("connection room: a port that is full leaves some for each of the others", () => {
  const room = new ConnectionRoom(100);
  const [one, two, three] = [room.port(), room.port(), room.port()];
  assertEquals(fill(one), 84); // 8 are kept for each
  assertEquals([fill(two), fill(three)], [8, 8]);
  assertEquals(room.taken, 100);
});

Deno.test("connection room: a port that is closed takes nothing; what it took counts until it is given back", () => {
  const room = new ConnectionRoom(40);
  const [one, two] = [room.port(), room.port()];
  assertEquals(fill(one), 35);
  one.close();
  assertEquals([one.take(), fill(two), room.taken], [false, 5, 40]);
  for (let i = 0; i < 35; i++) one.give();
  assertEquals([fill(two), room.taken], [35, 40]);
});

Deno.test("connection room: without a cap there is always room", () => {
  const room = new ConnectionRoom(Infinity);
  const [one] = [room.port(), room.port()];
  assertEquals(fill(one), 1000);
});
