/**
 * Two judges on one object: our `istio/*` rules, and Istio's validation as its program answered.
 *
 * @module
 */
import type { Finding } from "../../../lib/model/finding.ts";
import { completeServiceEntry, completeWorkloadEntry } from "../../../lib/convert/messages.ts";
import { runRules } from "../../../lib/convert/rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "../../../lib/convert/rules/service_entry_rules.ts";
import { WORKLOAD_ENTRY_RULES } from "../../../lib/convert/rules/workload_entry_rules.ts";
import type { Subject } from "./subjects.ts";

/** After these Istio looks no further, so that the number of complaints says nothing. */
const FINAL = ["istio/dry-run-annotation", "istio/internal-annotation", "istio/selector-labels"];

/** Every rule that is to give Istio's verdict, by name. */
export const ISTIO_RULES: readonly string[] = [
  ...new Set([...SERVICE_ENTRY_RULES, ...WORKLOAD_ENTRY_RULES].map(({ id }) => id)),
].filter((id) => id.startsWith("istio/")).sort();

/** How often a judge complained. */
export interface Count {
  readonly errors: number;
  readonly warnings: number;
}

/** Our findings, by the rules that are to agree with Istio; none is held back. */
export function judge({ kind, metadata, spec }: Subject): Finding[] {
  const options = { limit: Infinity };
  const findings = kind === "ServiceEntry"
    ? runRules(SERVICE_ENTRY_RULES, { metadata, spec: completeServiceEntry(spec) }, options)
    : runRules(WORKLOAD_ENTRY_RULES, { metadata, spec: completeWorkloadEntry(spec) }, options);
  return findings.filter(({ rule }) => rule.startsWith("istio/"));
}

/** Whether Istio's complaints are ours. */
export function agree(istio: Count, ours: readonly Finding[]): boolean {
  const errors = ours.filter(({ severity }) => severity === "error");
  if (errors.some(({ rule }) => FINAL.includes(rule))) return istio.errors > 0;
  return istio.errors === errors.length && istio.warnings === ours.length - errors.length;
}

/** For a failed test: the object, and what either side says. */
export function describe(subject: Subject, istio: unknown, ours: readonly Finding[]): string {
  return [
    `${subject.title}: ${JSON.stringify({ ...subject, title: undefined })}`,
    `  Istio: ${JSON.stringify(istio)}`,
    `  ours:  ${JSON.stringify(ours.map(({ rule, message }) => `${rule}: ${message}`))}`,
  ].join("\n");
}

/** Counts as text: objects divided by spaces, errors and warnings by a comma, left out where there are none. */
export function writeCounts(counts: readonly Count[]): string {
  return counts.map(({ errors, warnings }) =>
    warnings === 0 ? `${errors}` : `${errors},${warnings}`
  ).join(" ");
}

/** The counts that {@link writeCounts} wrote. */
export function readCounts(text: string): Count[] {
  return text.trim().split(/\s+/).map((count) => {
    const [errors, warnings] = count.split(",").map(Number);
    return { errors: errors!, warnings: warnings ?? 0 };
  });
}
