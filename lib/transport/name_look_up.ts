/**
 * Looking a name up again and again, where a look-up may hang: the system's cannot be called off.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import { untilAborted } from "./until_aborted.ts";

/** How long a look-up is waited for. Milliseconds. */
const DEADLINE = 10_000;

/** Looks one name up. Of look-ups that hang there is at most one. */
export class NameLookUp {
  readonly #resolve: () => Promise<readonly string[]>;
  readonly #clock: Clock;
  #pending: Promise<readonly string[]> | undefined;

  constructor(resolve: () => Promise<readonly string[]>, clock: Clock) {
    this.#resolve = resolve;
    this.#clock = clock;
  }

  /**
   * The addresses, each once. Rejects where there are none, where none come in time (what comes later
   * is the next one's answer), or with the signal's reason.
   */
  async find(signal: AbortSignal): Promise<readonly string[]> {
    const pending = this.#pending ??= this.#start();
    const waiting = new AbortController();
    const late = this.#clock.sleep(DEADLINE, AbortSignal.any([signal, waiting.signal])).then(() => {
      throw new Error(`nothing looked up within ${DEADLINE / 1000} s`);
    });
    late.catch(() => {}); // once the answer came nobody waits for it
    try {
      const found = await untilAborted(Promise.race([pending, late]), signal);
      if (found.length === 0) throw new Error("no address is behind that name");
      return [...new Set(found)];
    } finally {
      waiting.abort();
    }
  }

  async #start(): Promise<readonly string[]> {
    try {
      return await this.#resolve();
    } finally {
      this.#pending = undefined;
    }
  }
}
