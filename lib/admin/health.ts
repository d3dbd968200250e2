/**
 * Whether the process still turns. A process can be up and dead: what has to be seen is that the event
 * loop turns and that pushes get on their way.
 *
 * @module
 */

/** How often the event loop shows that it turns. Milliseconds. */
const BEAT = 500;

/** An event loop this late, or a push loop this still, is no longer healthy. Milliseconds. */
const DEAD = 15_000;

/** What the push loop says of itself. */
export interface PushLoop {
  /** Whether something waits for its turn. */
  readonly waiting: boolean;
  /** When a write last began, ended or got on. Milliseconds of the clock. */
  readonly progressedAt: number;
}

/** Whether the process is well; the reason where it is not. */
export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Watches the loops. Disposing it stops the beat. */
export class Heartbeat implements Disposable {
  readonly #now: () => number;
  readonly #pushLoop: () => PushLoop;
  readonly #timer: ReturnType<typeof setInterval>;
  #beatAt: number;
  #delay = 0;

  /** `now`: milliseconds, only differences count. */
  constructor(now: () => number, pushLoop: () => PushLoop) {
    this.#now = now;
    this.#pushLoop = pushLoop;
    this.#beatAt = now();
    this.#timer = setInterval(() => this.#beat(), BEAT);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  /** How late the event loop was at its last turn, or is now. Seconds. */
  get delay(): number {
    return Math.max(this.#delay, this.#now() - this.#beatAt - BEAT, 0) / 1000;
  }

  /** Whether both loops turn. */
  check(): Health {
    const now = this.#now();
    // Whoever asks is answered by the very loop in question: what counts is how late it just was.
    if (this.#delay > DEAD) return { ok: false, reason: "the event loop stands still" };
    const { waiting, progressedAt } = this.#pushLoop();
    if (waiting && now - progressedAt > DEAD) {
      return { ok: false, reason: "pushes wait and none gets on its way" };
    }
    return { ok: true };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = this.#now();
    this.#delay = Math.max(0, now - this.#beatAt - BEAT);
    this.#beatAt = now;
  }
}
