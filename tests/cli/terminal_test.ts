import { assertEquals } from "@std/assert";
import { duration, fit, paint, screenOf, visible, widthOf } from "../../lib/cli/terminal.ts";
import { cell, tableLines, textLine } from "../../lib/cli/text_table.ts";

Deno.test("terminal: nothing that a terminal acts on gets through", () => {
  assertEquals(visible("a\x1b[31mb\x07\r\n\tc"), "a\\u{1b}[31mb\\u{7}\\r\\n\\tc");
  assertEquals(visible("x\u009b2Jy"), "x\\u{9b}2Jy"); // the one-byte CSI
  assertEquals(visible("abc\u202ecba\u2066"), "abc\\u{202e}cba\\u{2066}");
  assertEquals(visible("line\u2028end"), "line\\u{2028}end");
  assertEquals(visible("\u{e0041}\ud800"), "\\u{e0041}\ufffd");
  assertEquals(visible("päge 世界"), "päge 世界");
});

Deno.test("terminal: wide characters take two cells, combining marks none", () => {
  assertEquals([widthOf("abc"), widthOf("世界"), widthOf("e\u0301"), widthOf("🚢")], [3, 4, 1, 2]);
  assertEquals([fit("abcdef", 4), fit("abc", 3), fit("世界人", 4), fit("x", 0)], [
    "abc…",
    "abc",
    "世…",
    "",
  ]);
});

Deno.test("terminal: colours are there where they are wanted", () => {
  assertEquals(paint({ text: "x", style: "bad" }, true), "\x1b[31mx\x1b[0m");
  assertEquals(paint({ text: "x", style: "bad" }, false), "x");
  assertEquals(paint({ text: "x", style: "plain" }, true), "x");
});

Deno.test("terminal: durations for people", () => {
  const shown = [0, 999, 1000, 61_000, 60_000, 7_800_000, 90_000_000, -5].map(duration);
  assertEquals(shown, ["0ms", "999ms", "1s", "1m1s", "1m", "2h10m", "1d1h", "0ms"]);
});

Deno.test("terminal: once its reader has gone a screen says so, and writes no more", async () => {
  let writes = 0;
  const screen = screenOf({
    isTerminal: () => false,
    write: (bytes) => {
      if (++writes > 2) return Promise.reject(new Deno.errors.BrokenPipe("broken pipe"));
      return Promise.resolve(Math.min(2, bytes.length));
    },
  });
  await screen.write("abc"); // in two goes
  assertEquals([writes, screen.gone.aborted], [2, false]);
  await screen.write("d");
  await screen.write("e");
  assertEquals([writes, screen.gone.aborted], [3, true]);
});

const COLUMNS = [{ title: "NAME", least: 6 }, { title: "STATE" }, { title: "WHY", least: 5 }];

Deno.test("table: columns are as wide as what they hold, empty ones are left out", () => {
  const rows = [["a", "up", ""], ["longer", cell("waiting", "bad"), ""]];
  assertEquals(tableLines(COLUMNS, rows, { colours: false }), [
    "NAME    STATE",
    "a       up",
    "longer  waiting",
  ]);
});

Deno.test("table: where there is too little room the widest give way, none below its least", () => {
  const rows = [["a-rather-long-name", "up", "because it is so, and for no other reason"]];
  const [, line] = tableLines(COLUMNS, rows, { colours: false, width: 32 });
  assertEquals(line, "a-rather-l…  up     because it …");
  for (const width of [12, 20, 30, 40, 60]) {
    for (const line of tableLines(COLUMNS, rows, { colours: false, width })) {
      assertEquals(widthOf(line) <= width, true, `${width}: ${line}`);
    }
  }
  assertEquals(tableLines(COLUMNS, rows, { colours: false })[1]!.endsWith("reason"), true);
});

Deno.test("table: colours do not count as width, and a cut line ends them", () => {
  const line = textLine([cell("x".repeat(20), "bad"), "tail"], { colours: true, width: 10 });
  assertEquals(line, `\x1b[31m${"x".repeat(9)}…\x1b[0m`);
});
