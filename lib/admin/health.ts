/**
 * Whether the process still turns. A process can be up and dead: what has to be seen is that the event
 * loop turns and that pushes get on their way.
 *
 * @module
 */

/** How often the event loop shows that it turns. Milliseconds. */
const BEAT = 500;

/** Beats that {@link Heartbeat.delay} looks back on: a minute of them. */
const REMEMBERED = 120;

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
  readonly #beats: Disposable;
  readonly #delays: number[] = [];
  #beatAt: number;

  /** `now`: milliseconds, only differences count. `every` calls its second argument every so many milliseconds. */
  constructor(
    now: () => number,
    pushLoop: () => PushLoop,
    every: (ms: number, beat: () => void) => Disposable = everySystem,
  ) {
    this.#now = now;
    this.#pushLoop = pushLoop;
    this.#beatAt = now();
    this.#beats = every(BEAT, () => this.#beat());
  }

  /** How late the event loop was at worst in its last 120 turns, a minute of them, or is now. Seconds. */
  get delay(): number {
    return Math.max(...this.#delays, this.#late()) / 1000;
  }

  /** Whether both loops turn. */
  check(): Health {
    // Whoever asks is answered by the very loop in question: what counts is how late it just was.
    const late = Math.max(this.#delays.at(-1) ?? 0, this.#late());
    if (late > DEAD) return { ok: false, reason: "the event loop stands still" };
    const { waiting, progressedAt } = this.#pushLoop();
    if (waiting && this.#now() - progressedAt > DEAD) {
      return { ok: false, reason: "pushes wait and none gets on its way" };
    }
    return { ok: true };
  }

  [Symbol.dispose](): void {
    this.#beats[Symbol.dispose]();
  }

  /** How overdue the next beat is. Milliseconds. */
  #late(): number {
    return Math.max(0, this.#now() - this.#beatAt - BEAT);
  }

  #beat(): void {
    this.#delays.push(this.#late());
    if (this.#delays.length > REMEMBERED) this.#delays.shift();
    this.#beatAt = this.#now();
  }
}

/** The system's timer; it alone keeps no process alive. */
function everySystem(ms: number, beat: () => void): Disposable {
  const timer = setInterval(beat, ms) as unknown as number; // number with Deno's types, not with Node's
  Deno.unrefTimer(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
