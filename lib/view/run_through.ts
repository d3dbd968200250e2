/**
 * Work that yields, done without a pause.
 *
 * @module
 */

/** What the work comes to. */
export function runThrough<Result>(work: Generator<void, Result>): Result {
  while (true) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
