import { assertEquals } from "@std/assert";
import { docAnchor, type Rule, runRules, withoutReplaced } from "../../lib/convert/rules/rule.ts";

const METADATA = { name: "a", namespace: "b", labels: {}, annotations: {} };

function rule(parts: Partial<Rule<number>>): Rule<number> {
  return {
    id: "pinnace/x",
    severity: "warning",
    check: ({ spec }, report) => {
      for (let i = 0; i < spec; i++) report({ path: ["items", i], message: `no ${i}` });
    },
    ...parts,
  };
}

Deno.test("rules: findings of one rule are bounded, and what is beyond is counted", () => {
  const findings = runRules([rule({})], { metadata: METADATA, spec: 100 });
  assertEquals(findings.length, 21);
  assertEquals(findings.at(-1)!.message, "80 more of the same");
  assertEquals(runRules([rule({})], { metadata: METADATA, spec: 20 }).length, 20);
});

Deno.test("rules: paths start where spec and metadata stand in the document", () => {
  const roots = { spec: ["spec"], metadata: ["metadata"] };
  const rules = [rule({}), rule({ of: "metadata" })];
  const findings = runRules(rules, { metadata: METADATA, spec: 1 }, { roots });
  assertEquals(findings.map(({ path }) => path), [["spec", "items", 0], ["metadata", "items", 0]]);
  assertEquals(findings.map(({ subject }) => subject), ["b/a", "b/a"]);
});

Deno.test("rules: what another rule replaces is left out only where that one found something", () => {
  const rules = [rule({ id: "istio/x" }), rule({ id: "pinnace/x", replaces: "istio/x" })];
  const both = runRules(rules, { metadata: METADATA, spec: 1 });
  assertEquals(withoutReplaced(rules, both).map(({ rule }) => rule), ["pinnace/x"]);
  const one = runRules(rules.slice(0, 1), { metadata: METADATA, spec: 2 });
  assertEquals(withoutReplaced(rules, one), one);
});

Deno.test("rules: an anchor is the one that the heading gets", () => {
  assertEquals(docAnchor({ id: "istio/dns-host", severity: "error" }), "istiodns-host");
});
