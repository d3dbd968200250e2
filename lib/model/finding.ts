/**
 * A finding: what Pinnace has to say to the person who wrote the configuration. Findings are data;
 * they are collected, never thrown.
 *
 * @module
 */

/** `error`: what it is about is not published. `warning`: published, but likely not what was meant. */
export type Severity = "error" | "warning";

/** A place in a file. Lines and columns count from 1, columns in UTF-16 code units. */
export interface Position {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** One thing that is wrong, where, and what would be right. */
export interface Finding {
  readonly severity: Severity;
  /** Stable name of the rule: `istio/…` gives Istio's own verdict, `pinnace/…` is ours, `config/…` is about the file. */
  readonly rule: string;
  /** What is wrong, one sentence without a full stop. */
  readonly message: string;
  /** What would be right, where that can be said. */
  readonly hint?: string;
  readonly position?: Position;
  /** The resource or service it is about, as `namespace/name`. */
  readonly subject?: string;
  /** Path inside the document, for example `["services", 3, "ports", 0]`; gives the position. */
  readonly path?: readonly (string | number)[];
}

/** `file:line:column: severity: message [rule]`, the form that editors and people both read. */
export function formatFinding(finding: Finding): string {
  const { position } = finding;
  const place = position === undefined
    ? ""
    : [position.file, position.line, position.column].filter((p) => p !== undefined).join(":") +
      ": ";
  const subject = finding.subject === undefined ? "" : `${finding.subject}: `;
  const hint = finding.hint === undefined ? "" : `; ${finding.hint}`;
  return `${place}${finding.severity}: ${subject}${finding.message}${hint} [${finding.rule}]`;
}
