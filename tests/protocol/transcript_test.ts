import { assert, assertEquals } from "@std/assert";
import { readTranscripts, runTranscript, type TranscriptFile } from "./transcript.ts";

const FOLDER = new URL("../testdata/transcripts/", import.meta.url);

/** Cases that the state machines answer for; each must be shown by a transcript. */
const CASES = [
  ..."P3 P4 P5 P6 P8 P10 P11 P12 P14 P15 P16 P17 P18 P20 P22 P24 P26".split(" "),
  ..."D1 D2 D3 D4 D6 D7 D10".split(" "),
  ..."M1 M2 M5 M14 M15 M16 M20".split(" "),
];

const files: readonly (readonly [string, TranscriptFile])[] = [...Deno.readDirSync(FOLDER)]
  .filter(({ name }) => name.endsWith(".yaml"))
  .map(({ name }) => [name, readTranscripts(Deno.readTextFileSync(new URL(name, FOLDER)))] as const)
  .sort(([a], [b]) => (a < b ? -1 : 1));

for (const [name, { protocol, transcripts }] of files) {
  for (const transcript of transcripts) {
    const cases = transcript.cases === undefined ? "" : ` [${transcript.cases.join(" ")}]`;
    Deno.test(`${name.replace(/\.yaml$/, "")}: ${transcript.title}${cases}`, () => {
      runTranscript(protocol, transcript);
    });
  }
}

Deno.test("transcripts: every case that concerns the state machines is shown", () => {
  const shown = new Set(
    files.flatMap(([, { transcripts }]) => transcripts.flatMap(({ cases }) => cases ?? [])),
  );
  assertEquals(CASES.filter((id) => !shown.has(id)), []);
  assertEquals([...shown].filter((id) => !CASES.includes(id)), []);
});

Deno.test("transcripts: no two have the same title in one file", () => {
  for (const [name, { transcripts }] of files) {
    const titles = new Set(transcripts.map(({ title }) => title));
    assert(titles.size === transcripts.length, name);
  }
});
