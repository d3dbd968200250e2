/** HTTP/2 as h2spec sees it, against the running program. */
import { assert, assertEquals } from "@std/assert";
import { load } from "js-yaml";
import { binary, interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { ORDERS } from "./lib/services.ts";

interface Deviations {
  readonly cases: readonly string[];
  readonly why: string;
}

type Outcome = "passed" | "failed" | "skipped";

interopTest(
  "h2spec: what fails is what is argued in h2spec/deviations.yaml, and the program lives on",
  ["h2spec"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS] });
    const outcomes = await runH2spec(pinnace.address);
    const having = (outcome: Outcome) =>
      [...outcomes].filter(([, o]) => o === outcome).map(([name]) => name).sort();
    assert(having("passed").length > 130, `${having("passed").length} cases passed`);
    const known = load(
      await Deno.readTextFile(new URL("h2spec/deviations.yaml", import.meta.url)),
    ) as Record<"failed" | "skipped", Deviations[]>;
    for (const outcome of ["failed", "skipped"] as const) {
      assertEquals(having(outcome), known[outcome].flatMap(({ cases }) => cases).sort(), outcome);
      assert(known[outcome].every(({ why }) => why.length > 0));
    }
    await pinnace.stop();
  },
);

/** The outcome of every case of the strict suite, by section and title. */
async function runH2spec(address: string): Promise<ReadonlyMap<string, Outcome>> {
  const [host, port] = address.split(":") as [string, string];
  const report = await Deno.makeTempFile({ prefix: "pinnace-h2spec-" });
  try {
    const { stdout } = await new Deno.Command(binary("h2spec"), {
      args: [
        "--strict",
        "--timeout",
        "3",
        "--host",
        host,
        "--port",
        port,
        "--junit-report",
        report,
      ],
      stdout: "piped",
      stderr: "piped",
    }).output();
    const xml = await Deno.readTextFile(report);
    assert(xml !== "", `h2spec wrote no report:\n${new TextDecoder().decode(stdout).slice(-2000)}`);
    return readReport(xml);
  } finally {
    await Deno.remove(report);
  }
}

function readReport(xml: string): ReadonlyMap<string, Outcome> {
  const cases = xml.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs,
  );
  return new Map([...cases].map(([, section, title, body]) => [
    `${section} ${title}`,
    outcomeOf(body!),
  ]));
}

function outcomeOf(body: string): Outcome {
  if (body.includes("<skipped>")) return "skipped";
  if (!body.includes("<error>")) return "passed";
  const closed = body.includes("Connection closed") && body.includes("connection reset by peer");
  return closed ? "passed" : "failed";
}
