import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConnectionRoom } from "../../lib/transport/connection_room.ts";
import type { Gate } from "../../lib/transport/gate.ts";
import {
  listen,
  type Listener,
  ListenError,
  type ListenOptions,
} from "../../lib/transport/listener.ts";
import { bytes, concat, data, PREFACE } from "./frames.ts";
import { now, RawPeer, until } from "./sockets.ts";

/** A listener whose connections go nowhere, and everything it said. */
class Bench implements AsyncDisposable {
  readonly said: string[] = [];
  readonly gates: Gate[] = [];
  readonly #listener: Promise<Listener>;
  #port = 0;

  constructor(options: Partial<ListenOptions> = {}) {
    this.#listener = listen({ host: "127.0.0.1", port: 0 }, {
      inject: (gate) => void this.gates.push(gate),
    }, {
      now,
      hooks: {
        refused: (reason, address) => void this.said.push(`refused ${reason} ${address}`),
        violation: ({ reason }, address) => void this.said.push(`violation ${reason} ${address}`),
      },
      ...options,
    });
  }

  async dial(head: Uint8Array = new Uint8Array()): Promise<RawPeer> {
    const { address } = await this.#listener;
    this.#port = address.port;
    const peer = new RawPeer(this.#port);
    await until(() => !peer.socket.connecting, "connected");
    if (head.length > 0) peer.socket.write(head);
    return peer;
  }

  async [Symbol.asyncDispose]() {
    const listener = await this.#listener;
    await listener[Symbol.asyncDispose]();
    for (const gate of this.gates) gate.destroy();
    await until(() => this.gates.every((gate) => gate.closed), "every gate is closed");
  }
}

Deno.test("listener: a client whose preface is whole is handed over, with what it sent", async () => {
  await using bench = new Bench();
  await using peer = await bench.dial(PREFACE.subarray(0, 10));
  peer.socket.write(concat(PREFACE.subarray(10), data(1, bytes(20))));
  await until(() => bench.gates.length === 1, "handed over");
  const received: Uint8Array[] = [];
  bench.gates[0]!.on("data", (chunk: Uint8Array) => received.push(chunk));
  await until(() => concat(...received).length === 24 + 29, "all came");
  assertEquals(bench.gates[0]!.remotePort, peer.socket.localPort);
  assertEquals(bench.said, []);
});

Deno.test("listener: who does not finish the preface in time is dropped; who did may be idle", async () => {
  await using bench = new Bench({ prefaceDeadline: 60 });
  await using idle = await bench.dial(PREFACE);
  await using silent = await bench.dial();
  await using slow = await bench.dial(PREFACE.subarray(0, 23));
  await until(() => silent.closed && slow.closed, "both are dropped");
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert(!idle.closed);
  assertEquals(bench.said, ["refused deadline 127.0.0.1", "refused deadline 127.0.0.1"]);
});

Deno.test("listener: who speaks something else is dropped at once", async () => {
  await using bench = new Bench();
  await using peer = await bench.dial(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
  await until(() => peer.closed, "dropped");
  assertEquals([bench.said, bench.gates.length], [["violation preface 127.0.0.1"], 0]);
});

Deno.test("listener: connections without a preface have a cap of their own", async () => {
  await using bench = new Bench({ maxUnfinished: 2 });
  await using _ready = await bench.dial(PREFACE);
  await until(() => bench.gates.length === 1, "handed over");
  await using first = await bench.dial();
  await using _second = await bench.dial();
  await using third = await bench.dial();
  await until(() => third.closed, "the third is turned away");
  assertEquals(bench.said, ["refused unfinished 127.0.0.1"]);
  first.socket.write(PREFACE); // makes room
  await until(() => bench.gates.length === 2, "handed over");
  await using fourth = await bench.dial(PREFACE);
  await until(() => bench.gates.length === 3, "there is room again");
  assert(!fourth.closed);
});

for (const reason of ["connections", "address"] as const) {
  Deno.test(`listener: there is a cap for ${reason}, and those that are open count`, async () => {
    await using bench = new Bench(
      reason === "connections" ? { room: new ConnectionRoom(2) } : { maxPerAddress: 2 },
    );
    await using first = await bench.dial(PREFACE);
    await using _second = await bench.dial(PREFACE);
    await until(() => bench.gates.length === 2, "two are handed over");
    await using third = await bench.dial(PREFACE);
    await until(() => third.closed, "the third is turned away");
    assertEquals(bench.said, [`refused ${reason} 127.0.0.1`]);
    first.socket.destroy();
    await until(() => bench.gates[0]!.closed, "the first is gone");
    await using fourth = await bench.dial(PREFACE);
    await until(() => bench.gates.length === 3, "there is room again");
    assert(!fourth.closed);
  });
}

Deno.test("listener: ports share the room, what is kept for another port included", async () => {
  const room = new ConnectionRoom(8); // a quarter of a half is kept for each of two
  await using one = new Bench({ room });
  await using other = new Bench({ room });
  await using peers = new AsyncDisposableStack();
  for (let i = 0; i < 7; i++) peers.use(await one.dial(PREFACE));
  await until(() => one.gates.length === 7, "seven are handed over");
  await using late = await one.dial(PREFACE);
  await until(() => late.closed, "the eighth is turned away");
  await using _first = await other.dial(PREFACE);
  await until(() => other.gates.length === 1, "the other port lets one in");
  await using second = await other.dial(PREFACE);
  await until(() => second.closed, "that was the last");
  assertEquals([one.said, other.said, room.taken], [
    ["refused connections 127.0.0.1"],
    ["refused connections 127.0.0.1"],
    8,
  ]);
});

Deno.test("listener: a port in use is said to be, with the address", async () => {
  const taker = { inject: () => {} };
  await using first = await listen({ host: "127.0.0.1", port: 0 }, taker, { now });
  const { port } = first.address;
  const error = await assertRejects(
    () => listen({ host: "127.0.0.1", port }, taker, { now }),
    ListenError,
    `cannot listen on 127.0.0.1:${port}: the port is already in use`,
  );
  assertEquals((error.cause as NodeJS.ErrnoException).code, "EADDRINUSE");
});

Deno.test("listener: an address that is not ours is said to be none", async () => {
  await assertRejects(
    () => listen({ host: "192.0.2.1", port: 0 }, { inject: () => {} }, { now }),
    ListenError,
    "cannot listen on 192.0.2.1:0: this machine has no such address",
  );
});

Deno.test("listener: a host name that is not known is said to be so", async () => {
  await assertRejects(
    () => listen({ host: "no-such-host.invalid", port: 0 }, { inject: () => {} }, { now }),
    ListenError,
    "cannot listen on no-such-host.invalid:0: the host name is not known",
  );
});

Deno.test("listener: IPv6 with and without brackets", async () => {
  for (const host of ["[::1]", "::1"]) {
    const gates: Gate[] = [];
    const taker = { inject: (gate: Gate) => void gates.push(gate) };
    await using listener = await listen({ host, port: 0 }, taker, { now });
    assertEquals(listener.address.host, "::1");
    await using peer = new RawPeer(listener.address.port, "::1");
    peer.socket.write(PREFACE);
    await until(() => gates.length === 1, "handed over");
    assertEquals(gates[0]!.remoteAddress, "::1");
    const again = listen({ host, port: listener.address.port }, taker, { now });
    await assertRejects(() => again, ListenError, `[::1]:${listener.address.port}: the port`);
    gates[0]!.destroy();
    await until(() => peer.closed, "closed");
  }
});

Deno.test("listener: closed, it accepts no more, drops the unfinished and leaves the others", async () => {
  const gates: Gate[] = [];
  const listener = await listen({ host: "127.0.0.1", port: 0 }, {
    inject: (gate) => void gates.push(gate),
  }, { now });
  const { port } = listener.address;
  await using ready = new RawPeer(port);
  ready.socket.write(PREFACE);
  await using unfinished = new RawPeer(port);
  unfinished.socket.write(PREFACE.subarray(0, 5));
  await until(() => gates.length === 1 && !unfinished.socket.connecting, "both are connected");
  await listener[Symbol.asyncDispose]();
  await until(() => unfinished.closed, "the unfinished one is dropped");
  assert(!ready.closed);
  await using late = new RawPeer(port);
  await until(() => late.closed, "nobody listens");
  gates[0]!.destroy();
  await until(() => gates[0]!.closed, "closed");
});

Deno.test("listener: a connection knows which address was dialled, as configured", async () => {
  await using named = new Bench({ name: "0.0.0.0:15010" });
  await using nameless = new Bench();
  await using _one = await named.dial(PREFACE);
  await using _two = await nameless.dial(PREFACE);
  await until(() => named.gates.length + nameless.gates.length === 2, "both are handed over");
  assertEquals([named.gates[0]!.listener, nameless.gates[0]!.listener], [
    "0.0.0.0:15010",
    undefined,
  ]);
});

Deno.test("listener: connections are secured first where that is asked for", async () => {
  const identity = { uris: ["spiffe://example.org/ns/a/sa/b"], dnsNames: [] };
  let count = 0;
  await using bench = new Bench({
    secure: (socket) =>
      count++ === 0
        ? Promise.reject(new Error("no certificate"))
        : Promise.resolve({ socket, identity }),
  });
  await using first = await bench.dial(PREFACE);
  await until(() => first.closed, "the handshake failed");
  await using _second = await bench.dial(PREFACE);
  await until(() => bench.gates.length === 1, "handed over");
  assertEquals(bench.gates[0]!.identity, identity);
  assertEquals(bench.said, ["refused handshake 127.0.0.1"]);
});

Deno.test("listener: a handshake that ends after the deadline changes nothing any more", async () => {
  const late = Promise.withResolvers<void>();
  await using bench = new Bench({
    prefaceDeadline: 30,
    secure: async (socket) => {
      await late.promise;
      return { socket };
    },
  });
  await using peer = await bench.dial(PREFACE);
  await until(() => peer.closed, "dropped");
  late.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals([bench.said, bench.gates.length], [["refused deadline 127.0.0.1"], 0]);
});
