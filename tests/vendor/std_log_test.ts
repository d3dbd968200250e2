import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  BaseHandler,
  ConsoleHandler,
  formatters,
  getLevelByName,
  getLevelName,
  getLogger,
  Logger,
  LogLevels,
  type LogRecord,
  setup,
} from "@std/log";

class Collector extends BaseHandler {
  readonly lines: string[] = [];
  used = 0;
  override log(msg: string): void {
    this.lines.push(msg);
  }
  override setup(): void {
    this.used++;
  }
  override destroy(): void {
    this.used--;
  }
}

Deno.test("log package: each level reaches the handler under its name", () => {
  const to = new Collector("DEBUG");
  const logger = new Logger("a", "DEBUG", { handlers: [to] });
  logger.debug("1");
  logger.info("2");
  logger.warn("3");
  logger.error("4");
  logger.critical("5");
  assertEquals(to.lines, ["DEBUG 1", "INFO 2", "WARN 3", "ERROR 4", "CRITICAL 5"]);
});

Deno.test("log package: records below the logger's or the handler's level are left out", () => {
  const to = new Collector("INFO");
  const logger = new Logger("a", "WARN", { handlers: [to] });
  logger.info("too low for the logger");
  logger.level = LogLevels.DEBUG;
  logger.debug("too low for the handler");
  to.level = LogLevels.DEBUG;
  logger.debug("heard");
  logger.levelName = "ERROR";
  logger.warn("too low again");
  assertEquals(to.lines, ["DEBUG heard"]);
  assertEquals([logger.level, logger.levelName], [40, "ERROR"]);
  assertThrows(() => logger.level = 7 as 10, TypeError, "7");
  assertThrows(() => to.levelName = "LOUD" as "INFO", Error, "LOUD");
});

Deno.test("log package: a formatter gets message, arguments, name and time", () => {
  let seen: LogRecord | undefined;
  const to = new Collector("DEBUG", { formatter: (record) => `${(seen = record).msg}!` });
  const before = Date.now();
  new Logger("orders", "DEBUG", { handlers: [to] }).warn("late", { peer: "a" }, 7);
  assertEquals(to.lines, ["late!"]);
  assertEquals(seen?.args, [{ peer: "a" }, 7]);
  assertEquals([seen?.loggerName, seen?.level, seen?.levelName], ["orders", 30, "WARN"]);
  const time = seen!.datetime.getTime();
  assertEquals(time >= before && time <= Date.now(), true);
});

Deno.test("log package: text that looks like a placeholder stays as it is", () => {
  const to = new Collector("DEBUG");
  const logger = new Logger("{a}", "DEBUG", { handlers: [to] });
  logger.info("{args} {{x}} %s {parcel}", { args: 1 });
  assertEquals(to.lines, ["INFO {args} {{x}} %s {parcel}"]);
});

Deno.test("log package: a message is handed back, a function is called only when heard", () => {
  const to = new Collector("DEBUG");
  const logger = new Logger("a", "INFO", { handlers: [to] });
  const thing = { a: 1, b: "x" };
  assertStrictEquals(logger.info(thing), thing);
  assertEquals(logger.info(() => 5), 5);
  assertEquals(logger.debug(() => 5), undefined);
  assertStrictEquals(logger.debug(thing), thing);
  assertEquals(to.lines, ['INFO {"a":1,"b":"x"}', "INFO 5"]);
});

Deno.test("log package: what a handler throws reaches the caller", () => {
  class Broken extends BaseHandler {
    override log(): void {
      throw new Error("disk full");
    }
  }
  const logger = new Logger("a", "DEBUG", { handlers: [new Broken("DEBUG")] });
  assertThrows(() => logger.info("x"), Error, "disk full");
});

Deno.test("log package: setup takes handlers into use and lets go of the former ones", () => {
  const first = new Collector("DEBUG");
  const second = new Collector("DEBUG");
  setup({ handlers: { c: first }, loggers: { app: { level: "WARN", handlers: ["c"] } } });
  getLogger("app").info("low");
  getLogger("app").warn("high");
  assertEquals([first.used, first.lines], [1, ["WARN high"]]);
  setup({ handlers: { c: second }, loggers: { default: { level: "DEBUG", handlers: ["c"] } } });
  getLogger().debug("hello");
  getLogger("nobody").critical("unheard");
  assertEquals([first.used, second.used, second.lines], [0, 1, ["DEBUG hello"]]);
  assertEquals(first.lines, ["WARN high"]);
  setup({});
  assertEquals(second.used, 0);
});

Deno.test("log package: the JSON formatter writes one object, a single argument as it is", () => {
  const to = new Collector("DEBUG", { formatter: formatters.jsonFormatter });
  const logger = new Logger("a", "DEBUG", { handlers: [to] });
  logger.info("m", { a: 1 });
  logger.info("m", 1, 2);
  logger.info("m");
  const [one, two, none] = to.lines.map((line) => JSON.parse(line));
  assertEquals([one.level, one.message, one.args], ["INFO", "m", { a: 1 }]);
  assertEquals(two.args, [1, 2]);
  assertEquals("args" in none, false);
});

Deno.test("log package: the console handler colours by level, or not at all", () => {
  class Console extends ConsoleHandler {
    readonly lines: string[] = [];
    override log(msg: string): void {
      this.lines.push(msg);
    }
  }
  const plain = new Console("DEBUG", { useColors: false });
  const coloured = new Console("DEBUG");
  const logger = new Logger("a", "DEBUG", { handlers: [plain, coloured] });
  logger.warn("m");
  logger.debug("m");
  assertEquals(plain.lines, ["WARN m", "DEBUG m"]);
  assertEquals(coloured.lines, ["\x1b[33mWARN m\x1b[39m", "DEBUG m"]);
});

Deno.test("log package: levels by name and number", () => {
  assertEquals(getLevelByName("WARN"), 30);
  assertEquals(getLevelName(50), "CRITICAL");
  assertThrows(() => getLevelName(11 as 10));
  assertThrows(() => getLevelByName("LOUD" as "INFO"));
});
