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

/** `overtaken`: our answer ended the stream before the frame that the case is about arrived, so that it met a closed one. */
type Outcome = "passed" | "failed" | "skipped" | "overtaken";

type Report = ReadonlyMap<string, { readonly outcome: Outcome; readonly said: string }>;

/** How often a section is tried again for a case that was overtaken. */
const TRIES = 10;

interopTest(
  "h2spec: what fails is what is argued in h2spec/deviations.yaml, and the program lives on",
  ["h2spec"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS] });
    const known = load(
      await Deno.readTextFile(new URL("h2spec/deviations.yaml", import.meta.url)),
    ) as Record<"failed" | "skipped", Deviations[]>;
    const argued = (kind: "failed" | "skipped") => known[kind].flatMap(({ cases }) => cases).sort();
    assert([...known.failed, ...known.skipped].every(({ why }) => why.length > 0));

    const report = await runH2spec(pinnace.address, []);
    const having = (...outcomes: Outcome[]) =>
      [...report.keys()].filter((name) => outcomes.includes(report.get(name)!.outcome));
    assert(having("passed").length > 120, `${having("passed").length} cases passed`);
    assertEquals(having("skipped").sort(), argued("skipped"), "skipped");
    const failed: string[] = [];
    for (const name of having("failed", "overtaken")) {
      const passes = !argued("failed").includes(name) &&
        report.get(name)!.outcome === "overtaken" &&
        await passesWhenTriedAgain(pinnace.address, name);
      if (!passes) failed.push(name);
    }
    const said = failed.map((name) => `${name}: ${report.get(name)!.said}`).join("\n");
    assertEquals(failed.sort(), argued("failed"), said);
    await pinnace.stop();
  },
);

async function passesWhenTriedAgain(address: string, name: string): Promise<boolean> {
  const section = name.slice(0, name.indexOf(" "));
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const report = await runH2spec(address, [section]);
    if (report.get(name)?.outcome === "passed") return true;
  }
  return false;
}

/** What came of every case of the strict suite, or of some sections of it, by section and title. */
async function runH2spec(address: string, sections: readonly string[]): Promise<Report> {
  const [host, port] = address.split(":") as [string, string];
  const file = await Deno.makeTempFile({ prefix: "pinnace-h2spec-" });
  try {
    const { stdout } = await new Deno.Command(binary("h2spec"), {
      args: [
        ...["--strict", "--timeout", "3", "--host", host, "--port", port, "--junit-report", file],
        ...sections,
      ],
      stdout: "piped",
      stderr: "piped",
    }).output();
    const xml = await Deno.readTextFile(file);
    assert(xml !== "", `h2spec wrote no report:\n${new TextDecoder().decode(stdout).slice(-2000)}`);
    return readReport(xml);
  } finally {
    await Deno.remove(file);
  }
}

function readReport(xml: string): Report {
  const cases = xml.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs,
  );
  return new Map([...cases].map(([, section, title, body]) => [
    `${section} ${title}`,
    { outcome: outcomeOf(body!), said: body!.trim() },
  ]));
}

/** The last line of an error is what happened, those before it what would have been right. */
function outcomeOf(body: string): Outcome {
  if (body.includes("<skipped>")) return "skipped";
  const error = /<error>(.*)<\/error>/s.exec(body)?.[1];
  if (error === undefined) return "passed";
  const happened = error.trim().split("\n").at(-1)!;
  const closed = error.includes("Connection closed\n");
  if (closed && happened.includes("connection reset by peer")) return "passed";
  return happened.startsWith("HEADERS Frame") && happened.includes("flags:0x05")
    ? "overtaken"
    : "failed";
}
