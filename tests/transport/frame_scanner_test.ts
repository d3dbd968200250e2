import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  FRAME_LIMITS,
  type FrameLimits,
  type Side,
  type ViolationReason,
} from "../../lib/transport/frame_rules.ts";
import { DEBUG_BYTES, FrameScanner, type Scanned } from "../../lib/transport/frame_scanner.ts";
import {
  bytes,
  concat,
  continuation,
  data,
  frame,
  FrameFlag,
  FrameType,
  goaway,
  headers,
  ping,
  pingAck,
  PREFACE,
  reset,
  settings,
  settingsAck,
} from "./frames.ts";

/** Everything a scanner lets pass of these chunks, and how it ended. */
function scan(
  scanner: FrameScanner,
  chunks: readonly Uint8Array[],
  now = 0,
): { passed: Uint8Array; dropped: number; end: Pick<Scanned, "drain" | "violation"> } {
  const passed: Uint8Array[] = [];
  let dropped = 0;
  let end: Pick<Scanned, "drain" | "violation"> = {};
  for (const chunk of chunks) {
    const scanned = scanner.inbound(chunk, now);
    passed.push(...scanned.pass.map((piece) => piece.slice()));
    dropped += scanned.dropped;
    if (scanned.drain !== undefined) end = { drain: scanned.drain };
    if (scanned.violation !== undefined) end = { violation: scanned.violation };
  }
  return { passed: concat(...passed), dropped, end };
}

/** The input whole, cut in two at every place, and byte by byte. */
function everyCut(input: Uint8Array): Uint8Array[][] {
  const cuts = [[input], [...input].map((byte) => Uint8Array.of(byte))];
  for (let at = 1; at < input.length; at++) cuts.push([input.subarray(0, at), input.subarray(at)]);
  return cuts;
}

function open(side: Side, limits: Partial<FrameLimits> = {}): FrameScanner {
  const scanner = new FrameScanner(side, { ...FRAME_LIMITS, ...limits });
  if (side === "server") scanner.inbound(PREFACE, 0);
  else {
    scanner.outbound(PREFACE);
    scanner.inbound(settings(), 0);
  }
  return scanner;
}

function violates(reason: ViolationReason, scanner: FrameScanner, ...frames: Uint8Array[]): void {
  const { end } = scan(scanner, frames);
  assertEquals(end.violation?.reason, reason);
}

const SESSION = concat(
  settings(Uint8Array.of(0, 3, 0, 0, 0, 100)),
  headers(1, bytes(40)),
  data(1, bytes(70)),
  data(1, bytes(0), FrameFlag.endStream),
  frame(FrameType.windowUpdate, 0, 0, Uint8Array.of(0, 0, 1, 0)),
  headers(3, bytes(20), 0),
  continuation(3, bytes(9), FrameFlag.endHeaders),
  ping(),
  reset(3),
);

Deno.test("frame scanner: an ordinary session passes unchanged, however it is cut", () => {
  for (const chunks of everyCut(concat(PREFACE, SESSION))) {
    const { passed, dropped, end } = scan(new FrameScanner("server"), chunks);
    assertEquals(passed, concat(PREFACE, SESSION));
    assertEquals([dropped, end], [0, {}]);
  }
});

Deno.test("frame scanner: whole chunks pass without a copy", () => {
  const scanner = open("server");
  const chunk = concat(headers(1, bytes(40)), data(1, bytes(500)));
  const { pass } = scanner.inbound(chunk, 0);
  assertEquals(pass.length, 1);
  assertEquals(pass[0]!.buffer, chunk.buffer);
});

Deno.test("frame scanner: nothing passes before the preface is whole", () => {
  const scanner = new FrameScanner("server");
  for (const byte of PREFACE.subarray(0, 23)) {
    assertEquals(scanner.inbound(Uint8Array.of(byte), 0).pass, []);
    assert(scanner.awaitsPreface);
  }
  assertEquals(scanner.inbound(PREFACE.subarray(23), 0).pass, [PREFACE]);
  assert(!scanner.awaitsPreface);
});

Deno.test("frame scanner: a preface wrong at any byte is refused at that byte", () => {
  for (let at = 0; at < PREFACE.length; at++) {
    const wrong = PREFACE.slice();
    wrong[at]! ^= 0x20;
    for (const chunks of everyCut(wrong)) {
      const { passed, end } = scan(new FrameScanner("server"), chunks);
      assertEquals(passed.length, 0);
      assertEquals(end.violation?.reason, "preface");
    }
    const early = new FrameScanner("server").inbound(wrong.subarray(0, at + 1), 0);
    assertEquals(early.violation?.reason, "preface");
  }
});

Deno.test("frame scanner: a server begins with SETTINGS, or speaks something else", () => {
  assertEquals(scan(new FrameScanner("client"), [settings()]).passed, settings());
  for (
    const wrong of [data(1, bytes(3)), settingsAck(), goaway(0, 0, "x".repeat(5000)), bytes(20, 3)]
  ) {
    violates("preface", new FrameScanner("client"), wrong);
  }
  // One that turns us away need not begin.
  const { passed, end } = scan(new FrameScanner("client"), [goaway(0, 12, "not you")]);
  assertEquals([passed.length, end], [0, { drain: { code: 12, lastStream: 0, debug: "not you" } }]);
});

Deno.test("frame scanner: a client's GOAWAY never passes, wherever it is cut", () => {
  const before = headers(1, bytes(40));
  const after = data(1, bytes(30));
  for (const chunks of everyCut(concat(before, goaway(1, 0, "bye"), after))) {
    const { passed, dropped, end } = scan(open("server"), chunks);
    assertEquals(passed, concat(before, after));
    assertEquals([dropped, end], [1, {}]);
  }
});

Deno.test("frame scanner: a server's GOAWAY is reported, wherever it is cut, and ends the connection", () => {
  const before = data(1, bytes(30));
  for (const chunks of everyCut(concat(before, goaway(7, 11, "too_many_pings"), before))) {
    const { passed, end } = scan(open("client"), chunks);
    assertEquals(passed, before);
    assertEquals(end, { drain: { code: 11, lastStream: 7, debug: "too_many_pings" } });
  }
});

Deno.test("frame scanner: of a GOAWAY's debug data a bounded part is kept", () => {
  const { end } = scan(open("client"), [goaway(0x7fff_ffff, 0, "x".repeat(5000))]);
  assertEquals(end.drain, { code: 0, lastStream: 0x7fff_ffff, debug: "x".repeat(DEBUG_BYTES) });
});

for (const side of ["server", "client"] as const) {
  for (
    const [what, asked, answer] of [["PING", ping(), pingAck()], [
      "SETTINGS",
      settings(Uint8Array.of(0, 4, 0, 1, 0, 0)),
      settingsAck(),
    ]] as const
  ) {
    Deno.test(`frame scanner: ${side}: as many ${what} ACKs pass as were asked for`, () => {
      for (const ours of everyCut(concat(asked, data(1, bytes(20)), asked))) {
        for (const chunks of everyCut(concat(answer, answer, answer, data(1, bytes(5))))) {
          const scanner = open(side);
          for (const chunk of ours) scanner.outbound(chunk);
          const { passed, dropped, end } = scan(scanner, chunks);
          assertEquals(passed, concat(answer, answer, data(1, bytes(5))));
          assertEquals([dropped, end], [1, {}]);
        }
      }
    });

    Deno.test(`frame scanner: ${side}: an unasked ${what} ACK is not made up for by a later ${what}`, () => {
      const scanner = open(side);
      assertEquals(scan(scanner, [answer, answer]).passed.length, 0);
      scanner.outbound(asked);
      assertEquals(scan(scanner, [answer, answer]).passed, answer);
    });
  }

  Deno.test(`frame scanner: ${side}: our own ACKs ask for nothing`, () => {
    const scanner = open(side);
    scanner.outbound(concat(pingAck(), settingsAck()));
    assertEquals(scan(scanner, [pingAck(), settingsAck()]).passed.length, 0);
  });

  Deno.test(`frame scanner: ${side}: PUSH_PROMISE ends the connection`, () => {
    violates("push_promise", open(side), frame(FrameType.pushPromise, 4, 1, bytes(20)));
  });
}

Deno.test("frame scanner: a frame larger than we allow is refused before its payload comes", () => {
  const header = data(1, bytes(16_385)).subarray(0, 9);
  violates("frame_size", open("server"), header);
  const roomy = open("server");
  const allowed = settings(Uint8Array.of(0, 3, 0, 0, 0, 9, 0, 5, 0, 0, 0x80, 0));
  for (const byte of allowed) roomy.outbound(Uint8Array.of(byte));
  assertEquals(scan(roomy, [data(1, bytes(32_768))]).end, {});
  violates("frame_size", roomy, data(1, bytes(32_769)));
});

Deno.test("frame scanner: frames of a fixed length have that length", () => {
  for (
    const wrong of [
      frame(FrameType.ping, 0, 0, bytes(7)),
      frame(FrameType.ping, FrameFlag.ack, 0, bytes(9)),
      frame(FrameType.rstStream, 0, 1, bytes(3)),
      frame(FrameType.windowUpdate, 0, 1, bytes(5)),
      frame(FrameType.priority, 0, 1, bytes(4)),
      frame(FrameType.settings, 0, 0, bytes(7)),
      frame(FrameType.settings, FrameFlag.ack, 0, bytes(6)),
    ]
  ) violates("frame_size", open("server"), wrong);
  violates("frame_size", open("client"), frame(FrameType.goaway, 0, 0, bytes(7)));
});

Deno.test("frame scanner: frames of the connection and of streams stay where they belong", () => {
  for (
    const wrong of [
      frame(FrameType.ping, 0, 1, bytes(8)),
      frame(FrameType.settings, 0, 1),
      frame(FrameType.goaway, 0, 1, bytes(8)),
      data(0, bytes(3)),
      headers(0, bytes(3)),
      reset(0),
      continuation(0, bytes(3)),
    ]
  ) violates("protocol", open("server"), wrong);
});

Deno.test("frame scanner: a header block is not interrupted, and only it continues", () => {
  const begun = headers(1, bytes(20), 0);
  violates("protocol", open("server"), begun, data(1, bytes(3)));
  violates("protocol", open("server"), begun, ping());
  violates("protocol", open("server"), begun, frame(0xbe, 0, 1, bytes(3)));
  violates("protocol", open("server"), begun, continuation(3, bytes(3)));
  violates("protocol", open("server"), continuation(1, bytes(3)));
  violates(
    "protocol",
    open("server"),
    begun,
    continuation(1, bytes(3), FrameFlag.endHeaders),
    continuation(1, bytes(3)),
  );
});

Deno.test("frame scanner: a header block has a bounded size and a bounded number of parts", () => {
  const scanner = () => open("server", { headerBlock: 100, continuations: 2 });
  violates("header_flood", scanner(), headers(1, bytes(101)));
  violates("header_flood", scanner(), headers(1, bytes(60), 0), continuation(1, bytes(41)));
  const parts = [headers(1, bytes(1), 0), continuation(1, bytes(1)), continuation(1, bytes(1))];
  violates("header_flood", scanner(), ...parts, continuation(1, bytes(1), FrameFlag.endHeaders));
  const whole = [headers(1, bytes(60), 0), continuation(1, bytes(40), FrameFlag.endHeaders)];
  assertEquals(scan(scanner(), [...whole, ...whole]).end, {}); // each block counts anew
});

const FLOODS: readonly [ViolationReason, keyof FrameLimits, Uint8Array][] = [
  ["reset_flood", "resets", reset(1)],
  ["settings_flood", "settings", settings()],
  ["ping_flood", "pings", ping()],
  ["idle_flood", "idle", data(1, bytes(0))],
  ["idle_flood", "idle", frame(FrameType.priority, 0, 1, bytes(5))],
  ["idle_flood", "idle", frame(0xfa, 0, 1, bytes(5))],
  ["idle_flood", "idle", pingAck()],
  ["idle_flood", "idle", settingsAck()],
  ["idle_flood", "idle", goaway(0, 0)],
];

for (const [reason, limit, one] of FLOODS) {
  Deno.test(`frame scanner: ${reason} by frames of type ${one[3]} ends the connection; the same over time does not`, () => {
    const scanner = open("server", { [limit]: { burst: 5, perSecond: 2 } });
    for (let second = 0; second < 20; second++) {
      assertEquals(scan(scanner, [one, one], second * 1000).end, {});
    }
    const { end } = scan(scanner, Array(6).fill(one), 20_000);
    assertEquals(end.violation?.reason, reason);
  });
}

Deno.test("frame scanner: PINGs are counted anew when we send DATA or HEADERS", () => {
  const scanner = open("server", { pings: { burst: 3, perSecond: 0 } });
  for (const ours of [data(1, bytes(9)), headers(1, bytes(9)), data(3, bytes(1))]) {
    assertEquals(scan(scanner, [ping(), ping(), ping()]).end, {});
    scanner.outbound(ours);
  }
  assertEquals(scan(scanner, [ping(), ping(), ping()]).end, {});
  scanner.outbound(settings());
  violates("ping_flood", scanner, ping());
});

Deno.test("frame scanner: a clock that steps back gives nothing away", () => {
  const scanner = open("server", { resets: { burst: 2, perSecond: 1 } });
  assertEquals(scan(scanner, [reset(1), reset(1)], 5000).end, {});
  assertEquals(scan(scanner, [reset(1)], 0).end.violation?.reason, "reset_flood");
});

Deno.test("frame scanner: frames of unknown types are left out", () => {
  const { passed, dropped } = scan(open("server"), [
    concat(frame(0x10, 0xff, 0, bytes(30)), data(1, bytes(2)), frame(0xff, 0, 9, bytes(0))),
  ]);
  assertEquals([passed, dropped], [data(1, bytes(2)), 2]);
});

Deno.test("frame scanner: after a violation nothing passes any more", () => {
  const scanner = open("server");
  violates("protocol", scanner, continuation(1, bytes(3)));
  const { pass, violation } = scanner.inbound(data(1, bytes(3)), 0);
  assertEquals([pass, violation?.reason], [[], "protocol"]);
});

const anyFrame = fc.record({
  type: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 11 }) }, {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 255 }),
  }),
  flags: fc.constantFrom(0, 1, 4, 5, 255),
  stream: fc.constantFrom(0, 0, 1, 1, 2, 3, 0x7fff_ffff),
  length: fc.oneof(fc.constantFrom(0, 4, 5, 6, 8), fc.integer({ min: 0, max: 60 })),
}).map(({ type, flags, stream, length }) => frame(type, flags, stream, bytes(length)));

for (const side of ["server", "client"] as const) {
  Deno.test(`frame scanner: ${side}: what passes does not depend on how random frames are cut`, () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
        (frames, sizes) => {
          const input = concat(...frames);
          const chunks: Uint8Array[] = [];
          for (let at = 0, i = 0; at < input.length; i++) {
            const size = sizes[i % sizes.length]!;
            chunks.push(input.subarray(at, at + size));
            at += size;
          }
          const [whole, cut] = [scan(open(side), [input]), scan(open(side), chunks)];
          assertEquals(cut.end, whole.end);
          assertEquals(cut.passed, whole.passed);
          noneThatKills(whole.passed);
        },
      ),
      { numRuns: 2000 },
    );
  });
}

/** None of the frames that crash or hang the runtime is among these. */
function noneThatKills(passed: Uint8Array): void {
  for (let at = 0; at + 9 <= passed.length;) {
    const [length, type, flags] = [
      (passed[at]! << 16) | (passed[at + 1]! << 8) | passed[at + 2]!,
      passed[at + 3]!,
      passed[at + 4]!,
    ];
    assert(type !== FrameType.goaway && type !== FrameType.pushPromise && type < 10);
    const ack = (flags & FrameFlag.ack) !== 0;
    assert(!(ack && (type === FrameType.ping || type === FrameType.settings)));
    at += 9 + length;
  }
}
