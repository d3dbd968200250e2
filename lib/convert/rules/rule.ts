/**
 * What a rule is, and how rules are run.
 *
 * @module
 */
import type { Finding, Severity } from "../../model/finding.ts";
import type { StringMap } from "../../wire/messages.ts";

/** Where in a document something stands, from the object's own root. */
export type Path = readonly (string | number)[];

/** What is wrong, where, and what would be right. */
export interface Problem {
  /** Relative to the spec, or to the metadata for a metadata rule. */
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

/** Takes one problem. */
export type Report = (problem: Problem) => void;

/** What sinks know of an object besides its body. */
export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** An object under examination. */
export interface Subject<Spec> {
  readonly metadata: Metadata;
  readonly spec: Spec;
}

/** What is said of a rule in the documentation and in findings. */
export interface RuleInfo {
  /** `istio/…` gives Istio's own verdict, `pinnace/…` is ours. */
  readonly id: string;
  readonly severity: Severity;
}

/** A rule: looks at one thing only. */
export interface Rule<Spec> extends RuleInfo {
  /** Whether paths of its problems are relative to the metadata; else to the spec. */
  readonly of?: "metadata";
  /** A rule that says less about the same; {@link withoutReplaced} takes its findings out. */
  readonly replaces?: string;
  readonly check: (subject: Subject<Spec>, report: Report) => void;
}

/** Where spec and metadata stand in the document that the object was read from. */
export interface Roots {
  readonly spec: Path;
  readonly metadata: Path;
}

/** In our own form, both stand at the root of the service. */
export const SERVICE_ROOTS: Roots = { spec: [], metadata: [] };

/** Findings of one rule on one object; what is beyond is counted in one more. */
export const FINDINGS_PER_RULE = 20;

/** Runs rules on an object; `limit` bounds the findings of each rule. */
export function runRules<Spec>(
  rules: readonly Rule<Spec>[],
  subject: Subject<Spec>,
  { roots = SERVICE_ROOTS, limit = FINDINGS_PER_RULE }: { roots?: Roots; limit?: number } = {},
): Finding[] {
  const findings: Finding[] = [];
  const about = `${subject.metadata.namespace}/${subject.metadata.name}`;
  let rule: Rule<Spec>;
  let count = 0;
  // One function for all rules: most find nothing, and there are many.
  const report: Report = (problem) => {
    if (++count > limit) return;
    const root = rule.of === "metadata" ? roots.metadata : roots.spec;
    findings.push(toFinding(rule, about, root, problem));
  };
  for (rule of rules) {
    count = 0;
    rule.check(subject, report);
    if (count > limit) findings.push(andMore(rule, about, count - limit));
  }
  return findings;
}

/** The findings without those of rules that another rule replaces, where that one found the same. */
export function withoutReplaced<Spec>(
  rules: readonly Rule<Spec>[],
  findings: readonly Finding[],
): readonly Finding[] {
  if (findings.length < 2) return findings;
  const found = new Set(findings.map(({ rule }) => rule));
  const replaced = new Set(rules.filter(({ id }) => found.has(id)).map((rule) => rule.replaces));
  return findings.filter(({ rule }) => !replaced.has(rule));
}

/** A problem as the finding of a rule. */
export function toFinding(rule: RuleInfo, subject: string, root: Path, problem: Problem): Finding {
  const { path, message, hint } = problem;
  const at = root.length === 0 ? path : [...root, ...path];
  const finding = { severity: rule.severity, rule: rule.id, message, subject, path: at };
  return hint === undefined ? finding : { ...finding, hint };
}

/** The finding that stands for those beyond the limit. */
export function andMore(rule: RuleInfo, subject: string, count: number): Finding {
  const message = `${count} more of the same`;
  return { severity: rule.severity, rule: rule.id, message, subject, path: [] };
}

/** Anchor of a rule's heading in `docs/rules.md`. */
export function docAnchor(rule: RuleInfo): string {
  return rule.id.replaceAll("/", "");
}
