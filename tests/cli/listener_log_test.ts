import { assertEquals } from "@std/assert";
import { logListeners } from "../../lib/cli/listener_log.ts";
import { bench } from "./log_bench.ts";

Deno.test("listener log: of each client that is refused there is a line in a while, and none hides another", () => {
  const { log, lines } = bench();
  let now = 0;
  const { refused, violation } = logListeners(log, { now: () => now });
  for (let i = 0; i < 1000; i++) refused?.("handshake", "192.0.2.1", "a certificate expired");
  refused?.("handshake", "192.0.2.1", "another certificate expired");
  refused?.("handshake", "192.0.2.2", "a certificate expired");
  refused?.("allow", "192.0.2.1", "spiffe://example.org/a is none of those allowed");
  refused?.("address", "192.0.2.1");
  refused?.("deadline", "192.0.2.1");
  violation?.({ reason: "preface", detail: "no HTTP/2" }, "192.0.2.1");
  violation?.({ reason: "frame_size", detail: "too large" }, "192.0.2.1");
  const refusal = "WARN  listener  connection refused  reason=";
  assertEquals(lines, [
    `${refusal}handshake peer=192.0.2.1 detail="a certificate expired"`,
    `${refusal}handshake peer=192.0.2.1 detail="another certificate expired"`,
    `${refusal}handshake peer=192.0.2.2 detail="a certificate expired"`,
    `${refusal}allow peer=192.0.2.1 detail="spiffe://example.org/a is none of those allowed"`,
    `${refusal}address peer=192.0.2.1`,
    "WARN  listener  connection ended: its peer broke the rules of HTTP/2  reason=frame_size " +
    'peer=192.0.2.1 detail="too large"',
  ]);
  now = 10_000;
  refused?.("handshake", "192.0.2.1", "a certificate expired");
  assertEquals(lines.at(-1), `${lines[0]} unsaid=999`);
});

Deno.test("listener log: who calls itself something else each time fills no log and hides nobody", () => {
  const { log, lines } = bench();
  let now = 0;
  const { refused } = logListeners(log, { now: () => now });
  for (let i = 0; i < 500; i++) refused?.("handshake", "192.0.2.1", `name ${i}`);
  assertEquals(lines.length, 6);
  assertEquals(
    lines[5],
    "WARN  listener  connection refused: too many to name each  reason=handshake",
  );
  refused?.("handshake", "192.0.2.2", "a certificate expired");
  assertEquals(lines.length, 7);
  for (let i = 0; i < 5000; i++) refused?.("handshake", `192.0.2.${i}`, "a certificate expired");
  assertEquals(lines.length, 51);
  now = 10_000;
  for (let i = 0; i < 6; i++) refused?.("handshake", "192.0.2.1", `later ${i}`);
  assertEquals(lines.length, 57);
  assertEquals(/unsaid=\d{4}$/.test(lines[56]!), true);
});
