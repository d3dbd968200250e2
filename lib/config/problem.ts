/**
 * What is wrong in a document, before it is known where in which file that stands.
 *
 * @module
 */
import type { Finding, Severity } from "../model/finding.ts";

/** Where in a document: keys and indices from its root. */
export type Path = readonly (string | number)[];

/** A finding without its file; `path` is relative to what was checked. */
export interface Problem {
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: Path;
}

/** An error. */
export function problem(rule: string, path: Path, message: string, hint?: string): Problem {
  return { severity: "error", rule, path, message, ...(hint === undefined ? {} : { hint }) };
}

/** A finding about `file`; `prefix` is the path of what was checked. */
export function toFinding(
  found: Problem | Finding,
  file: string,
  prefix: Path,
  subject?: string,
): Finding {
  const about = ("subject" in found ? found.subject : undefined) ?? subject;
  return {
    severity: found.severity,
    rule: found.rule,
    message: found.message,
    ...(found.hint === undefined ? {} : { hint: found.hint }),
    position: { file },
    ...(about === undefined ? {} : { subject: about }),
    path: [...prefix, ...(found.path ?? [])],
  };
}
