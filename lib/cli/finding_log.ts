/**
 * What the log says of findings.
 *
 * @module
 */
import type { Log, Logger } from "../log.ts";
import { type Finding, formatFinding } from "../model/finding.ts";

interface Waiting {
  readonly findings: readonly Finding[];
  readonly timer: ReturnType<typeof setTimeout>;
  readonly over: () => void;
}

/** How findings are said. */
export interface FindingLogOptions {
  /** How long findings wait for their lines and columns. Milliseconds; default 10 s. */
  readonly patience?: number;
  /** Category of the lines. Default: `config`. */
  readonly category?: string;
}

/** Says each finding as a line, unless it was said before and still holds. */
export class FindingLog implements Disposable {
  readonly #logger: Logger;
  readonly #patience: number;
  #said = new Set<string>();
  #waiting: Waiting | undefined;
  #settled = Promise.resolve();

  constructor(log: Log, { patience = 10_000, category = "config" }: FindingLogOptions = {}) {
    this.#logger = log.logger(category);
    this.#patience = patience;
  }

  /**
   * Takes the findings of a load. Where some have no line and column yet, none is said before
   * {@link FindingLog.say} brings them or patience is over; then they are said as they are.
   */
  take(findings: readonly Finding[]): void {
    if (findings.every(isPlaced)) return this.say(findings);
    this.#forget();
    const { promise, resolve: over } = Promise.withResolvers<void>();
    this.#settled = promise;
    this.#waiting = { findings, over, timer: setTimeout(() => this.say(findings), this.#patience) };
  }

  /** Says the findings as they are now, those that were not said before. */
  say(findings: readonly Finding[]): void {
    this.#forget();
    const now = new Set<string>();
    for (const finding of findings) {
      const text = formatFinding(finding);
      now.add(text);
      if (this.#said.has(text)) continue;
      if (finding.severity === "error") this.#logger.error(text, { rule: finding.rule });
      else this.#logger.warn(text, { rule: finding.rule });
    }
    if (this.#said.size > 0 && now.size === 0) this.#logger.info("all findings are cleared");
    this.#said = now;
  }

  /** Resolves once all that was taken is said: at once, or when lines and columns are there. */
  settled(): Promise<void> {
    return this.#settled;
  }

  /** Nothing is said any more. */
  [Symbol.dispose](): void {
    this.#forget();
  }

  #forget(): void {
    clearTimeout(this.#waiting?.timer);
    this.#waiting?.over();
    this.#waiting = undefined;
  }
}

/** Whether it has all of its place that it will ever have. */
function isPlaced({ path, position }: Finding): boolean {
  return path === undefined || position?.line !== undefined;
}
