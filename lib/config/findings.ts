/**
 * Findings of a whole configuration: bounded, and given their places.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { locate } from "./positions.ts";

/** Findings of one rule in one file that are listed; the rest is counted. */
export const FINDINGS_PER_RULE = 50;

/** At most {@link FINDINGS_PER_RULE} findings of each rule and file, and one that counts those left out. */
export function boundFindings(findings: readonly Finding[]): readonly Finding[] {
  const counts = new Map<string, number>();
  const kept = findings.filter((finding) => {
    const key = keyOf(finding);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= FINDINGS_PER_RULE;
  });
  if (kept.length === findings.length) return findings;
  const said = new Set<string>();
  const more = findings.flatMap((finding): Finding[] => {
    const key = keyOf(finding);
    const left = counts.get(key)! - FINDINGS_PER_RULE;
    if (left <= 0 || said.has(key)) return [];
    said.add(key);
    const { severity, rule, position } = finding;
    const file = position === undefined ? {} : { position: { file: position.file } };
    return [{ severity, rule, message: `${left} more of the same in this file`, ...file }];
  });
  return [...kept, ...more];
}

/** The findings with line and column, where their file's text (undefined: not to be had) has them. */
export function locateFindings(
  findings: readonly Finding[],
  textOf: (file: string) => string | undefined,
): readonly Finding[] {
  const byFile = new Map<string, number[]>();
  findings.forEach(({ position, path }, index) => {
    if (position === undefined || position.line !== undefined || path === undefined) return;
    const indexes = byFile.get(position.file);
    if (indexes === undefined) byFile.set(position.file, [index]);
    else indexes.push(index);
  });
  const located = [...findings];
  for (const [file, indexes] of byFile) {
    const text = textOf(file);
    if (text === undefined) continue;
    const places = locate(text, indexes.map((index) => findings[index]!.path!));
    indexes.forEach((index, at) => {
      const place = places[at];
      if (place !== undefined) {
        located[index] = { ...findings[index]!, position: { file, ...place } };
      }
    });
  }
  return located;
}

function keyOf({ severity, rule, position }: Finding): string {
  return `${severity} ${rule} ${position?.file ?? ""}`;
}
