/**
 * What is found in a push: a few findings in full, the rest counted, and one text for the person who
 * runs the source.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";

/** Findings of each severity that are kept of a push. */
export const MAX_FINDINGS = 20;

/** Longest reason that is sent back. Characters. */
export const MAX_MESSAGE = 2000;

/** Room that the last words of a reason may need. Characters. */
const ROOM_FOR_MORE = 80;

/** Longest part of a reason about one finding. Characters. */
const MAX_PART = 600;

/** Longest key of a map that a path repeats. Characters. */
const MAX_KEY = 80;

/** Collects findings. */
export class Verdict {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  #refused = 0;

  /** Adds what was found in one resource. */
  add(findings: readonly Finding[]): void {
    let isRefused = false;
    for (const finding of findings) {
      const isError = finding.severity === "error";
      isRefused ||= isError;
      const list = isError ? this.errors : this.warnings;
      if (list.length < MAX_FINDINGS) list.push(bounded(finding));
    }
    if (isRefused) this.#refused++;
  }

  /** Whether any resource has an error. */
  get isRefused(): boolean {
    return this.#refused > 0;
  }

  /** Why a push of `count` resources is refused: the first resources with rule and reason, and how many more. At most {@link MAX_MESSAGE} characters. */
  message(count: number): string {
    let text = `${this.#refused} of ${count} resources refused`;
    const named = new Set<string>();
    for (const finding of this.errors) {
      const part = `${named.size === 0 ? ": " : "; "}${describeFinding(finding)}`;
      if (text.length + part.length > MAX_MESSAGE - ROOM_FOR_MORE) break;
      text += part;
      named.add(finding.subject ?? "");
    }
    const more = this.#refused - named.size;
    return (more > 0 ? `${text}; and ${more} more` : text).toWellFormed();
  }
}

/** One finding for whoever runs the source: `shop/billing endpoints[0].address: what is wrong; what is right [rule]`. */
export function describeFinding({ subject, path, message, hint, rule }: Finding): string {
  const place = path === undefined || path.length === 0 ? "" : ` ${pathText(path)}`;
  const text = `${subject}${place}: ${message}${hint === undefined ? "" : `; ${hint}`}`;
  const short = text.length > MAX_PART ? `${text.slice(0, MAX_PART - 1)}…` : text;
  return `${short} [${rule}]`;
}

/** A path may go through a map whose keys are whatever was sent. */
function bounded(finding: Finding): Finding {
  const { path } = finding;
  const isLong = (part: string | number) => typeof part === "string" && part.length > MAX_KEY;
  if (path === undefined || !path.some(isLong)) return finding;
  const short = path.map((part) => isLong(part) ? `${`${part}`.slice(0, MAX_KEY - 1)}…` : part);
  return { ...finding, path: short };
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((part, index) =>
    typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`
  ).join("");
}
