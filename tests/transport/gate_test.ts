import { assert, assertEquals } from "@std/assert";
import type { Side, Violation } from "../../lib/transport/frame_rules.ts";
import type { DrainNotice } from "../../lib/transport/frame_scanner.ts";
import { Gate } from "../../lib/transport/gate.ts";
import {
  bytes,
  concat,
  data,
  goaway,
  headers,
  ping,
  pingAck,
  PREFACE,
  settings,
} from "./frames.ts";
import { now, type SocketPair, socketPair, until } from "./sockets.ts";

/** A gate on one end of a loopback connection, and everything it said. */
class Bench implements AsyncDisposable {
  readonly gate: Gate;
  readonly far: SocketPair["far"];
  readonly near: SocketPair["near"];
  readonly said: string[] = [];
  readonly #pair: SocketPair;
  readonly #received: Uint8Array[] = [];
  readonly #passed: Uint8Array[] = [];

  private constructor(pair: SocketPair, side: Side) {
    this.#pair = pair;
    this.far = pair.far;
    this.near = pair.near;
    this.gate = new Gate(pair.near, {
      side,
      now,
      hooks: {
        preface: () => void this.said.push("preface"),
        drain: ({ code, lastStream }: DrainNotice) =>
          void this.said.push(`drain ${code} ${lastStream}`),
        violation: ({ reason }: Violation) => void this.said.push(`violation ${reason}`),
      },
    });
    for (const event of ["end", "close"]) this.gate.on(event, () => this.said.push(event));
  }

  static async open(side: Side): Promise<Bench> {
    return new Bench(await socketPair(), side);
  }

  /** Reads on both ends. */
  flow(): this {
    this.gate.on("data", (chunk: Uint8Array) => this.#passed.push(chunk));
    this.far.on("data", (chunk: Uint8Array) => this.#received.push(chunk));
    return this;
  }

  get passed(): Uint8Array {
    return concat(...this.#passed);
  }

  get received(): Uint8Array {
    return concat(...this.#received);
  }

  async [Symbol.asyncDispose]() {
    await this.#pair[Symbol.asyncDispose]();
    await until(() => this.gate.closed, "the gate is closed with its socket");
  }
}

Deno.test("gate: bytes go through both ways", async () => {
  await using bench = (await Bench.open("server")).flow();
  const session = concat(PREFACE, headers(1, bytes(30)), data(1, bytes(2000)));
  bench.far.write(session.subarray(0, 100));
  await until(() => bench.passed.length === 100, "the first part came");
  bench.far.write(session.subarray(100));
  bench.gate.write(data(1, bytes(5000)));
  await until(() => bench.passed.length === session.length, "all came");
  await until(() => bench.received.length === 5009, "all went");
  assertEquals(bench.passed, session);
  assertEquals(bench.received, data(1, bytes(5000)));
  assertEquals(bench.said, ["preface"]);
});

Deno.test("gate: server: a GOAWAY is left out, and the connection goes on", async () => {
  await using bench = (await Bench.open("server")).flow();
  bench.far.write(concat(PREFACE, goaway(0, 0), data(1, bytes(10))));
  await until(() => bench.passed.length === 24 + 19, "the rest came");
  assertEquals(bench.passed, concat(PREFACE, data(1, bytes(10))));
  assertEquals(bench.said, ["preface"]);
});

Deno.test("gate: client: a GOAWAY is reported, what came before passes, and the connection is closed", async () => {
  await using bench = (await Bench.open("client")).flow();
  bench.far.write(concat(settings(), data(1, bytes(10)), goaway(5, 2), data(1, bytes(10))));
  await until(() => bench.gate.closed && bench.near.closed, "gate and socket are closed");
  assertEquals(bench.passed, concat(settings(), data(1, bytes(10))));
  assertEquals(bench.said[0], "drain 2 5");
});

Deno.test("gate: PING ACKs pass as often as PINGs went out", async () => {
  for (const side of ["server", "client"] as const) {
    await using bench = (await Bench.open(side)).flow();
    const head = side === "server" ? PREFACE : settings();
    bench.gate.write(side === "server" ? ping() : concat(PREFACE, ping()));
    await until(() => bench.received.length > 0, "the PING went out");
    bench.far.write(concat(head, pingAck(), pingAck(), pingAck(), data(1, bytes(3))));
    const expected = concat(head, pingAck(), data(1, bytes(3)));
    await until(() => bench.passed.length >= expected.length, "the rest came");
    assertEquals(bench.passed, expected);
  }
});

Deno.test("gate: a peer that breaks the rules is cut off, and the reason told once", async () => {
  await using bench = (await Bench.open("server")).flow();
  bench.far.write(concat(PREFACE, data(0, bytes(10))));
  bench.far.write(data(0, bytes(10)));
  await until(() => bench.gate.closed && bench.near.closed, "gate and socket are closed");
  assertEquals(bench.said, ["violation protocol", "close"]);
});

Deno.test("gate: no preface, no session", async () => {
  await using bench = (await Bench.open("server")).flow();
  bench.far.write("GET / HTTP/1.1\r\n\r\n");
  await until(() => bench.gate.closed, "the gate is closed");
  assertEquals([bench.said, bench.passed.length], [["violation preface", "close"], 0]);
});

Deno.test("gate: back-pressure outward: a peer that does not read stops the writer, and nothing is lost", async () => {
  await using bench = await Bench.open("server");
  bench.far.pause();
  const total = 32 * 1024 * 1024;
  const piece = data(1, bytes(16_000));
  let taken = 0;
  let stalled = false;
  const write = () => {
    if (taken >= total) return;
    bench.gate.write(piece, () => {
      taken += piece.length;
      write();
    });
  };
  write();
  for (let last = -1; last !== taken;) {
    last = taken;
    await new Promise((resolve) => setTimeout(resolve, 100));
    stalled = bench.gate.blocked;
  }
  assert(stalled, "the gate says that it is blocked");
  assert(taken < total, `the kernel takes some, not all: ${taken}`);
  assert(bench.gate.writableLength <= piece.length);
  let received = 0;
  bench.far.on("data", (chunk: Uint8Array) => received += chunk.length);
  bench.far.resume();
  await until(() => taken >= total && received === taken, "all of it arrives", 10_000);
  assert(!bench.gate.blocked);
});

Deno.test("gate: writers wait for room, get their turns in order, and never wait for a closed gate", async () => {
  await using bench = await Bench.open("server");
  bench.far.pause();
  const order: number[] = [];
  bench.gate.whenRoom(() => order.push(0));
  assertEquals(order, [0]); // there is room at once
  while (!bench.gate.writableNeedDrain || !bench.gate.blocked) {
    bench.gate.write(new Uint8Array(100_000));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  for (const i of [1, 2, 3]) bench.gate.whenRoom(() => order.push(i));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertEquals(order, [0]);
  bench.far.resume();
  await until(() => order.length === 4, "all had their turns");
  assertEquals(order, [0, 1, 2, 3]);
  bench.far.pause();
  while (!bench.gate.writableNeedDrain || !bench.gate.blocked) {
    bench.gate.write(new Uint8Array(100_000));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  bench.gate.whenRoom(() => order.push(4));
  bench.gate.destroy();
  await until(() => order.length === 5, "who waited hears of it");
  bench.gate.whenRoom(() => order.push(5));
  assertEquals(order.at(-1), 5);
});

Deno.test("gate: a peer that asks on and on without reading is cut off", async () => {
  await using bench = await Bench.open("server");
  bench.far.pause();
  bench.far.write(PREFACE);
  bench.gate.resume();
  await until(() => bench.said.length === 1, "the preface came");
  bench.gate.write(new Uint8Array(25_000_000));
  await until(() => bench.gate.blocked, "the gate is blocked");
  bench.far.write(ping());
  await until(() => bench.gate.closed, "the gate is closed");
  assertEquals(bench.said, ["preface", "violation unread", "close"]);
});

Deno.test("gate: back-pressure inward: who does not read stops the peer, and nothing is lost", async () => {
  await using bench = await Bench.open("server");
  const piece = data(1, bytes(16_000));
  const count = 1500; // 24 MB, more than the kernel holds
  let sent = 0;
  const send = () => {
    if (sent++ < count) bench.far.write(piece, send);
  };
  bench.far.write(PREFACE, send);
  let last = -1;
  while (last !== sent) {
    last = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert(sent < count, `the peer is stopped: ${sent} of ${count}`);
  assert(bench.gate.readableLength < 256 * 1024, `held: ${bench.gate.readableLength} bytes`);
  let received = 0;
  bench.gate.on("data", (chunk: Uint8Array) => received += chunk.length);
  const expected = PREFACE.length + count * piece.length;
  await until(() => received === expected, "all of it arrives", 10_000);
});

Deno.test("gate: a peer that closes only its half loses the connection", async () => {
  await using bench = (await Bench.open("server")).flow();
  bench.far.write(concat(PREFACE, data(1, bytes(10))));
  bench.far.end();
  await until(() => bench.gate.closed && bench.near.closed, "gate and socket are closed");
  assertEquals(bench.passed.length, 24 + 19);
  assertEquals(bench.said, ["preface", "end", "close"]); // in order, so the session ends in order
  await until(() => bench.far.readableEnded, "the peer sees the end");
});

Deno.test("gate: a socket that dies takes the gate along, and a write that waits is settled", async () => {
  await using bench = await Bench.open("server");
  bench.far.pause();
  let settled = 0;
  let written = 0;
  const write = () => {
    written++;
    bench.gate.write(bytes(64_000), () => {
      settled++;
      if (!bench.gate.destroyed) write();
    });
  };
  write();
  await until(() => bench.gate.blocked, "the gate is blocked");
  bench.far.resetAndDestroy();
  await until(() => bench.gate.closed && bench.near.closed, "gate and socket are closed");
  await until(() => settled === written, "every write is settled");
});

Deno.test("gate: destroying it closes the connection", async () => {
  await using bench = (await Bench.open("client")).flow();
  bench.gate.destroy();
  await until(() => bench.far.readableEnded || bench.far.closed, "the peer sees it");
  assert(bench.near.destroyed);
});

Deno.test("gate: both addresses can be seen, and who the peer is once it is known", async () => {
  await using pair = await socketPair();
  const identity = { uris: ["spiffe://example.org/ns/a/sa/b"], dnsNames: [] };
  const gate = new Gate(pair.near, { side: "server", now, identity });
  assertEquals(gate.remoteAddress, "127.0.0.1");
  assertEquals(gate.remotePort, pair.far.localPort);
  assertEquals(gate.localAddress, "127.0.0.1");
  assertEquals(gate.localPort, pair.far.remotePort);
  assertEquals(gate.identity, identity);
  await using plain = await socketPair();
  assertEquals(new Gate(plain.near, { side: "server", now }).identity, undefined);
});
