import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { explain, Log, type LogOptions, StreamSink, Throttle } from "../lib/log.ts";

function open(options: Partial<LogOptions> = {}): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const sink = (line: string) => void lines.push(line);
  return { log: new Log({ level: "debug", format: "text", sink, ...options }), lines };
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

Deno.test("log: text has time, level, category, message and fields", () => {
  const { log, lines } = open();
  log.logger("sink").warn("refused what was sent", { peer: "10.0.0.7:9901", nonce: 3, ok: false });
  assertMatch(
    lines[0]!,
    new RegExp(`^${TIME} WARN  sink  refused what was sent  peer=10.0.0.7:9901 nonce=3 ok=false$`),
  );
});

Deno.test("log: JSON has the fields beside time, level, category and msg", () => {
  const { log, lines } = open({ format: "json" });
  log.logger("sink").error("down", {
    peer: "a b",
    tries: 2,
    at: { host: "x", port: 1 },
    none: null,
  });
  const line = JSON.parse(lines[0]!);
  assertMatch(line.time, new RegExp(`^${TIME}$`));
  delete line.time;
  assertEquals(line, {
    level: "error",
    category: "sink",
    msg: "down",
    peer: "a b",
    tries: 2,
    "at.host": "x",
    "at.port": 1,
    none: null,
  });
});

Deno.test("log: a field can't pass for the line's own time, level, category or message", () => {
  const { log, lines } = open({ format: "json" });
  log.logger("a").info("m", { level: "x", msg: "y", time: 1, category: 2 });
  const line = JSON.parse(lines[0]!);
  assertEquals([line.level, line.msg, line.category], ["info", "m", "a"]);
  assertEquals([line._level, line._msg, line._time, line._category], ["x", "y", 1, 2]);
});

Deno.test("log: lines below the level are not written, and the level changes at once", () => {
  const { log, lines } = open({ level: "warn" });
  const logger = log.logger("a");
  logger.debug("1");
  logger.info("2");
  logger.warn("3");
  logger.error("4");
  assertEquals([logger.enabled("info"), logger.enabled("warn")], [false, true]);
  log.configure({ level: "debug", format: "json" });
  logger.debug("5");
  assertEquals(lines.length, 3);
  assertEquals(JSON.parse(lines[2]!).msg, "5");
  log.configure({ level: "error", format: "text" });
  logger.warn("6");
  assertEquals(lines.length, 3);
});

Deno.test("log: a child bears its parent's category and fields", () => {
  const { log, lines } = open();
  const transport = log.logger("transport", { listener: "127.0.0.1:1" });
  transport.child("gate").with({ peer: "b" }).info("closed", { listener: "other" });
  assertStringIncludes(lines[0]!, " transport.gate  closed  listener=other peer=b");
});

Deno.test("log: what a peer sent stays on its line and never reaches the terminal raw", () => {
  const { log, lines } = open();
  const evil = 'x\n2026-01-01T00:00:00.000Z ERROR  fake\x1b[2J\u202e "';
  log.logger("a").warn(`peer says ${evil}`, { message: evil, "a\nb": 1, empty: "" });
  assertEquals(lines[0]!.includes("\n"), false);
  assertEquals(/\p{Cc}|\u202e/u.test(lines[0]!), false);
  assertStringIncludes(lines[0]!, String.raw`peer says x\n2026`);
  assertStringIncludes(lines[0]!, String.raw`\u001b[2J\u202e`);
  assertStringIncludes(lines[0]!, ' empty=""');
  log.configure({ level: "debug", format: "json" });
  log.logger("a").warn(evil, { message: evil });
  assertEquals(lines[1]!.includes("\n"), false);
  assertEquals(JSON.parse(lines[1]!).message, evil);
});

Deno.test("log: colours only where they were asked for", () => {
  const plain = open();
  plain.log.logger("a").warn("m", { b: 1 });
  assertEquals(plain.lines[0]!.includes("\x1b"), false);
  const coloured = open({ colours: true });
  coloured.log.logger("a").warn("m", { b: 1 });
  assertStringIncludes(coloured.lines[0]!, "\x1b[33mWARN \x1b[0m");
  coloured.log.configure({ level: "debug", format: "json" });
  coloured.log.logger("a").warn("m");
  assertEquals(coloured.lines[1]!.includes("\x1b"), false);
});

Deno.test("log: secrets are left out, whatever they hide in", () => {
  const { log, lines } = open({ format: "json" });
  log.logger("a").info("m", {
    headers: { authorization: "Bearer abc", "x-site": "fra", "X-Api-Key": "abc" },
    token: "abc",
    password: "abc",
    plain: "Bearer abc",
    nested: { deep: { cookie: "abc" } },
    list: ["Basic abc"],
    tokenFile: "admin.token",
  });
  assertEquals(lines[0]!.includes("abc"), false);
  const line = JSON.parse(lines[0]!);
  assertEquals([line["headers.x-site"], line.tokenFile], ["fra", "admin.token"]);
});

Deno.test("log: errors say why, once, and not without end", () => {
  const cause = new Error("connection refused");
  assertEquals(explain(new Error("can't dial", { cause })), "can't dial: connection refused");
  assertEquals(
    explain(new Error("can't dial: connection refused", { cause })),
    "can't dial: connection refused",
  );
  assertEquals(explain("text"), "text");
  const loop = new Error("a");
  loop.cause = loop;
  assertEquals(explain(loop), "a");
  const { log, lines } = open();
  log.logger("a").error("m", { error: new Error("can't dial", { cause }) });
  assertStringIncludes(lines[0]!, `error="can't dial: connection refused"`);
});

Deno.test("log: a line is bounded, whatever is handed over", () => {
  const { log, lines } = open({ format: "json" });
  const deep: Record<string, unknown> = {};
  deep.self = deep;
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i]));
  log.logger("a").info("m", {
    long: "x".repeat(1_000_000),
    list: Array.from({ length: 100_000 }, (_, i) => i),
    bytes: new Uint8Array(1_000_000),
    deep,
    ...many,
  });
  assert(lines[0]!.length < 10_000, `${lines[0]!.length} characters`);
  assertStringIncludes(lines[0]!, "998000 more characters");
  assertStringIncludes(lines[0]!, "99980 more");
  assertStringIncludes(lines[0]!, "1000000 bytes");
});

Deno.test("log: odd values are written, not thrown over", () => {
  const { log, lines } = open({ format: "json" });
  log.logger("a").info("m", {
    big: 12n,
    nan: NaN,
    date: new Date(0),
    bad: new Date(NaN),
    set: new Set(["a"]),
    map: new Map([[1, 2]]),
    fn: () => 1,
    none: undefined,
    symbol: Symbol("s"),
  });
  const line = JSON.parse(lines[0]!);
  assertEquals([line.big, line.nan, line.date], ["12", "NaN", "1970-01-01T00:00:00.000Z"]);
  assertEquals([line.bad, line.set, line.symbol], ["no date", ["a"], "Symbol(s)"]);
  assertEquals(["fn" in line, "none" in line], [false, false]);
});

Deno.test("log throttle: one event a key and period, and the others are counted", () => {
  let now = 0;
  const throttle = new Throttle({ period: 1_000, now: () => now });
  const said: [string, number][] = [];
  const event = (key: string) => throttle.run(key, (suppressed) => said.push([key, suppressed]));
  event("a");
  event("a");
  event("b");
  now = 999;
  event("a");
  now = 1_000;
  event("a");
  event("a");
  assertEquals(said, [["a", 0], ["b", 0], ["a", 2]]);
});

Deno.test("log throttle: the number of keys is bounded", () => {
  const throttle = new Throttle({ period: 1_000, keys: 10, now: () => 0 });
  let said = 0;
  for (let i = 0; i < 1_000; i++) throttle.run(`peer ${i}`, () => said++);
  assertEquals([throttle.size, said], [10, 1_000]);
  throttle.run("peer 999", () => said++);
  assertEquals(said, 1_000);
});

Deno.test("log sink: lines come out whole and in order, through a writer that takes little", async () => {
  let out = "";
  const sink = new StreamSink({
    write: (bytes) => {
      const some = bytes.subarray(0, 7);
      out += new TextDecoder().decode(some);
      return Promise.resolve(some.length);
    },
  });
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`);
  for (const line of lines) sink.write(line);
  assertEquals(out, "");
  await sink.flush(5_000);
  assertEquals(out, lines.map((line) => `${line}\n`).join(""));
});

Deno.test("log sink: a reader that stalls costs lines, never memory or time", async () => {
  let out = "";
  const gate = Promise.withResolvers<void>();
  const sink = new StreamSink({
    write: async (bytes) => {
      await gate.promise;
      out += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  }, { buffer: 1_000 });
  for (let i = 0; i < 1_000; i++) sink.write(`line ${i}`);
  await sink.flush(10);
  assertEquals(out, "");
  gate.resolve();
  await sink.flush(5_000);
  assertStringIncludes(out, "line 0\n");
  assertMatch(out, /\n… \d+ log lines dropped: reader too slow\n$/);
  assert(out.length < 1_100, `${out.length} characters`);
  const before = out.length;
  sink.write("later");
  await sink.flush(5_000);
  assertEquals(out.slice(before), "later\n");
});

Deno.test("log sink: a closed stream is no reason to fall over", async () => {
  const sink = new StreamSink({ write: () => Promise.reject(new Error("broken pipe")) });
  sink.write("a");
  await sink.flush(1_000);
  sink.write("b");
  await sink[Symbol.asyncDispose]();
});
