/**
 * Whether the process can serve: what health checks are answered with, and who is to hear of a change.
 *
 * @module
 */

/** Whether there is something to serve, and nobody is being turned away. */
export class ServingState {
  readonly #listeners = new Set<() => void>();
  #serving: boolean;

  constructor(serving = false) {
    this.#serving = serving;
  }

  /** Whether it can serve now. */
  get serving(): boolean {
    return this.#serving;
  }

  /** Notes whether it can serve from here on; whoever watches hears of a change before this returns. */
  set(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const changed of [...this.#listeners]) changed();
  }

  /** Calls `changed`, which must not throw, at each change until disposed. */
  watch(changed: () => void): Disposable {
    const listener = () => changed(); // one's own, whoever else gave the same function
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
