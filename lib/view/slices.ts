/**
 * Work that takes long, done in slices, so that it holds up nothing else.
 *
 * @module
 */

/** How slices are cut. */
export interface SlicesOptions {
  /** Longest slice. Milliseconds; Infinity: all at once. */
  readonly longest: number;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Calls back soon, after whatever else waits. */
  readonly defer: (next: () => void) => void;
}

/** Work that was begun. */
export interface Sliced {
  /** Whether it was finished or stopped. */
  readonly over: boolean;
  /** Goes on no further. */
  stop(): void;
}

/** Does work in slices. */
export class Slices {
  readonly #options: SlicesOptions;

  constructor(options: SlicesOptions) {
    this.#options = options;
  }

  /** Begins work at once; `done` is called with its result, before this returns if one slice is enough. Neither may throw. */
  run<Result>(work: Generator<void, Result>, done: (result: Result) => void): Sliced {
    const { longest, now, defer } = this.#options;
    let over = false;
    const slice = () => {
      const until = now() + longest;
      do {
        if (over) return;
        const step = work.next();
        if (step.done === true) {
          over = true;
          return done(step.value);
        }
      } while (now() < until);
      defer(slice);
    };
    slice();
    return {
      get over() {
        return over;
      },
      stop: () => void (over = true),
    };
  }
}

/** Slices of 15 ms, between which the event loop turns. */
export function systemSlices(): Slices {
  return new Slices({
    longest: 15,
    now: () => performance.now(),
    defer: (next) => void setTimeout(next, 0),
  });
}
