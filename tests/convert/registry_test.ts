import { assert, assertEquals } from "@std/assert";
import { RULES } from "../../lib/convert/registry.ts";
import { docAnchor } from "../../lib/convert/rules/rule.ts";
import { CONTEST_RULES } from "../../lib/receive/contest_findings.ts";
import { RECEIVE_RULES } from "../../lib/receive/judge.ts";
import { sources } from "../source_files.ts";

const text = Deno.readTextFileSync(new URL("../../docs/rules.md", import.meta.url));
const sections = new Map(
  text.split(/^### /m).slice(1).map((
    section,
  ) => [section.slice(0, section.indexOf("\n")), section]),
);

/** Rules that findings name, in the parts that find something. */
const named = ["lib/config", "lib/convert", "lib/receive", "lib/view", "lib/cli"].flatMap(sources)
  .flatMap(({ text }) =>
    [...text.matchAll(/"((?:istio|pinnace|receive|view)\/[a-z][a-z-]+)"/g)].map(([, id]) => id!)
  );

/** Every rule: of conversion, and for what other sources give. Put together here, since conversion knows no sources. */
const everyRule = [...RULES, ...RECEIVE_RULES, ...CONTEST_RULES];

Deno.test("rules: docs/rules.md has a section on each rule, and on nothing else", () => {
  assert(RULES.length > 40, `${RULES.length}`);
  assertEquals([...sections.keys()].sort(), [...new Set(named)].sort());
});

Deno.test("rules: the registry knows every rule of conversion", () => {
  const known = new Set(RULES.map(({ id }) => id));
  const missing = sources("lib/convert").flatMap(({ text }) =>
    [...text.matchAll(/\bid: "((?:istio|pinnace)\/[a-z-]+)"/g)].map(([, id]) => id!)
  ).filter((id) => !known.has(id));
  assertEquals(missing, []);
});

Deno.test("rules: those for what other sources give are all listed", () => {
  const listed = [...RECEIVE_RULES, ...CONTEST_RULES].map(({ id }) => id);
  assertEquals(
    listed.toSorted(),
    [...new Set(named.filter((id) => id.startsWith("receive/")))].sort(),
  );
});

Deno.test("rules: those for clients of xDS are warnings, each with an example", () => {
  const views = [...sections.keys()].filter((id) => id.startsWith("view/"));
  assert(views.length > 25, `${views.length}`);
  for (const id of views) {
    assert(sections.get(id)!.includes("\n_warning_. "), id);
    assert(sections.get(id)!.includes("`"), `${id} has no example`);
  }
});

Deno.test("rules: each section says how grave it is, why, and shows an example", () => {
  for (const { id, severity } of everyRule) {
    const section = sections.get(id);
    assert(section?.includes(`_${severity}_`), `${id}: ${severity}`);
    assert(section!.includes("`"), `${id} has no example`);
  }
});

Deno.test("rules: anchors are unique", () => {
  assertEquals(new Set(everyRule.map(docAnchor)).size, everyRule.length);
});
