import { assertEquals } from "@std/assert";
import type { ClientKind } from "../../lib/model/settings.ts";
import { xdsType } from "../../lib/model/xds_type.ts";
import { DubboStart, QUIET, QUIET_AFTER_ROUTES } from "../../lib/transport/dubbo_start.ts";
import { FakeClock } from "./fakes.ts";

const LDS = xdsType("Listener").typeUrl;
const RDS = xdsType("RouteConfiguration").typeUrl;
const EDS = xdsType("ClusterLoadAssignment").typeUrl;

/** A watch over a stream, and how often that was to be ended. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  ended = 0;
  readonly #over = new AbortController();
  readonly #start = new DubboStart({
    clock: this.clock,
    stream: { signal: this.#over.signal, end: () => void this.ended++ },
  });

  hear(...types: readonly string[]): void {
    for (const type of types) this.as("dubbo", type);
  }

  as(kind: ClientKind, type: string | undefined): void {
    this.#start.heard(kind, type);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}

Deno.test("dubbo start: without routes asked for it is ended soon, and once", async () => {
  using bench = new Bench();
  bench.hear(LDS, LDS); // the second takes note of the answer
  await bench.clock.pass(QUIET - 1);
  assertEquals(bench.ended, 0);
  await bench.clock.pass(1);
  assertEquals(bench.ended, 1);
  bench.hear(LDS);
  await bench.clock.pass(10 * QUIET_AFTER_ROUTES);
  assertEquals(bench.ended, 1);
});

Deno.test("dubbo start: what is heard counts anew", async () => {
  using bench = new Bench();
  bench.hear(LDS);
  await bench.clock.pass(QUIET - 1);
  bench.hear(LDS);
  await bench.clock.pass(QUIET - 1);
  assertEquals(bench.ended, 0);
  bench.hear(RDS);
  await bench.clock.pass(QUIET_AFTER_ROUTES - 1);
  assertEquals(bench.ended, 0);
  await bench.clock.pass(1);
  assertEquals(bench.ended, 1);
});

Deno.test("dubbo start: with endpoints asked for it is through", async () => {
  using bench = new Bench();
  bench.hear(LDS, RDS, LDS, EDS);
  await bench.clock.pass(10 * QUIET_AFTER_ROUTES);
  assertEquals(bench.ended, 0);
});

Deno.test("dubbo start: who comes back is left alone, whatever it asks for", async () => {
  using bench = new Bench();
  bench.hear(RDS, LDS);
  await bench.clock.pass(10 * QUIET_AFTER_ROUTES);
  assertEquals(bench.ended, 0);
});

Deno.test("dubbo start: other clients are left alone", async () => {
  for (const kind of ["envoy", "grpc", "istio"] as const) {
    using bench = new Bench();
    bench.as(kind, kind === "istio" ? undefined : LDS);
    await bench.clock.pass(10 * QUIET_AFTER_ROUTES);
    assertEquals(bench.ended, 0);
  }
});
