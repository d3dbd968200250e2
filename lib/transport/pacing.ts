/**
 * Keeps a peer that asks anew or refuses in a tight loop from being answered in one (cases M16): its
 * answers wait, the newest state goes out then.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import { Allowance, type Rate } from "./allowance.ts";

/** Reopenings and refusals that are answered at once. Changes that are accepted do not count. */
const PACE: Rate = { burst: 20, perSecond: 2 };

/** What pacing works with. */
export interface PacingOptions {
  readonly clock: Clock;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** Called when answers begin to wait. Must not throw. */
  readonly held: () => void;
  /** Called when they may go. Must not throw. */
  readonly resumed: () => void;
}

/** The pace of one stream. */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #allowance = new Allowance(PACE);
  #holding = false;

  constructor(options: PacingOptions) {
    this.#options = options;
  }

  /** Whether answers are to wait. */
  get holding(): boolean {
    return this.#holding;
  }

  /** Counts a reopening or a refusal. While answers wait, those that come share one answer. */
  count(): void {
    const { clock } = this.#options;
    if (this.#holding || this.#allowance.spend(clock.now())) return;
    this.#holding = true;
    this.#options.held();
    void this.#resume();
  }

  async #resume(): Promise<void> {
    const { clock, signal, resumed } = this.#options;
    do await clock.sleep(1000 / PACE.perSecond, signal); while (
      !signal.aborted && !this.#allowance.spend(clock.now())
    );
    this.#holding = false;
    if (!signal.aborted) resumed();
  }
}
