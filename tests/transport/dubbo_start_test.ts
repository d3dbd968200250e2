import { assertEquals } from "@std/assert";
import type { ClientKind } from "../../lib/model/settings.ts";
import { xdsType } from "../../lib/model/xds_type.ts";
import { DubboStart, DubboStarts, ENDS, QUIET, START } from "../../lib/transport/dubbo_start.ts";
import { FakeClock } from "./fakes.ts";

const LDS = xdsType("Listener").typeUrl;
const RDS = xdsType("RouteConfiguration").typeUrl;
const EDS = xdsType("ClusterLoadAssignment").typeUrl;

/** Streams from one address, and how many of them were ended. */
class Bench {
  readonly clock = new FakeClock();
  readonly #starts = new DubboStarts();
  ended = 0;

  /** A new stream that asks for these. */
  open(...types: readonly string[]): (...types: readonly string[]) => void {
    return this.openAs("dubbo", ...types);
  }

  openAs(kind: ClientKind, ...types: readonly (string | undefined)[]) {
    const over = new AbortController();
    const start = new DubboStart({
      clock: this.clock,
      starts: this.#starts,
      stream: {
        signal: over.signal,
        peer: { address: "192.0.2.9", port: 1 },
        end: () => {
          this.ended++;
          over.abort();
        },
      },
    });
    const hear = (...types: readonly (string | undefined)[]) => {
      for (const type of types) start.heard({ kind, id: "sidecar~a", type });
    };
    hear(...types);
    return hear;
  }
}

Deno.test("dubbo start: a stream on which it goes quiet is ended", async () => {
  for (const asked of [[LDS], [LDS, LDS], [LDS, RDS, LDS, RDS]]) {
    const bench = new Bench();
    bench.open(...asked);
    await bench.clock.pass(QUIET - 1);
    assertEquals(bench.ended, 0);
    await bench.clock.pass(1);
    assertEquals(bench.ended, 1);
  }
});

Deno.test("dubbo start: it is quiet from the last request on", async () => {
  const bench = new Bench();
  const hear = bench.open(LDS);
  for (let i = 0; i < 5; i++) {
    await bench.clock.pass(QUIET - 1);
    hear(RDS);
  }
  assertEquals(bench.ended, 0);
});

Deno.test("dubbo start: with endpoints asked for it is through", async () => {
  const bench = new Bench();
  bench.open(LDS, RDS, LDS, EDS);
  bench.open(RDS, EDS, LDS);
  await bench.clock.pass(START);
  assertEquals(bench.ended, 0);
});

Deno.test("dubbo start: who comes back during a start is ended again, but not for ever", async () => {
  const bench = new Bench();
  bench.open(LDS);
  await bench.clock.pass(QUIET);
  for (let i = 0; i < 10; i++) {
    bench.open(RDS, LDS);
    await bench.clock.pass(QUIET);
  }
  assertEquals(bench.ended, ENDS);
});

Deno.test("dubbo start: who comes back at any other time is left alone", async () => {
  const bench = new Bench();
  bench.open(RDS, LDS);
  await bench.clock.pass(QUIET);
  assertEquals(bench.ended, 0);
  bench.open(LDS, RDS, EDS);
  await bench.clock.pass(START);
  bench.open(RDS, LDS);
  await bench.clock.pass(QUIET);
  assertEquals(bench.ended, 0);
});

Deno.test("dubbo start: each start at one address has its own chances", async () => {
  const bench = new Bench();
  for (let i = 0; i < 2 * ENDS; i++) {
    bench.open(LDS, RDS);
    await bench.clock.pass(QUIET);
  }
  assertEquals(bench.ended, 2 * ENDS);
});

Deno.test("dubbo start: other clients are left alone", async () => {
  const bench = new Bench();
  for (const kind of ["envoy", "grpc"] as const) bench.openAs(kind, LDS, RDS);
  bench.openAs("istio", undefined);
  await bench.clock.pass(START);
  assertEquals(bench.ended, 0);
});
