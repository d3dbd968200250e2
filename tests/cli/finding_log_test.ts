import { assertEquals } from "@std/assert";
import { FindingLog } from "../../lib/cli/finding_log.ts";
import { Log } from "../../lib/log.ts";
import type { Finding } from "../../lib/model/finding.ts";

const finding = (message: string, line?: number): Finding => ({
  severity: "error",
  rule: "config/x",
  message,
  position: { file: "p.yaml", ...(line === undefined ? {} : { line, column: 1 }) },
  path: ["services"],
});

function bench(patience: number) {
  const lines: string[] = [];
  const log = new Log({
    level: "info",
    format: "text",
    sink: (line) => void lines.push(line.replace(/^\S+ /, "").replace(/ {2,}/g, " ").trimEnd()),
  });
  return { lines, findings: new FindingLog(log, { patience }) };
}

Deno.test("finding log: said once with line and column, not before they are there", () => {
  const { lines, findings } = bench(60_000);
  using _ = findings;
  findings.take([finding("bad")]);
  assertEquals(lines, []);
  findings.say([finding("bad", 3)]);
  findings.take([finding("bad", 3)]);
  assertEquals(lines, ["ERROR config p.yaml:3:1: error: bad [config/x] rule=config/x"]);
  findings.take([]);
  assertEquals(lines[1], "INFO config all findings are cleared");
});

Deno.test("finding log: findings whose lines never come are said all the same", async () => {
  const { lines, findings } = bench(5);
  findings.take([finding("bad")]);
  await findings.settled();
  assertEquals(lines, ["ERROR config p.yaml: error: bad [config/x] rule=config/x"]);
});

Deno.test("finding log: those of a later load take the place of those that still wait", async () => {
  const { lines, findings } = bench(60_000);
  findings.take([finding("first")]);
  const settled = findings.settled();
  findings.take([]);
  await settled;
  await findings.settled();
  assertEquals(lines, []);
});
