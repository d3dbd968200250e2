/**
 * One line that says how far something is, on a terminal and nowhere else.
 *
 * @module
 */
import { fit, type Screen, visible } from "./terminal.ts";

const CLEAR_LINE = "\r\x1b[K";

/** A line that is written over. */
export class Progress {
  readonly #screen: Screen;
  #shown = false;
  #last: Promise<void> = Promise.resolve();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Shows this in place of what was shown before. */
  show(text: string): void {
    if (!this.#screen.isTerminal) return;
    this.#shown = true;
    const line = fit(visible(text), (this.#screen.size()?.columns ?? 80) - 1);
    this.#last = this.#last.then(() => this.#screen.write(CLEAR_LINE + line));
  }

  /** Takes the line away, so that something else can be written. */
  async clear(): Promise<void> {
    if (this.#shown) this.#last = this.#last.then(() => this.#screen.write(CLEAR_LINE));
    this.#shown = false;
    await this.#last;
  }
}
