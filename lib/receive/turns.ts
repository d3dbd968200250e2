/**
 * Whose turn it is, among pieces of work of very different size: what is small is not held up by what
 * is large, what is large is not held up for ever, and nobody is held up by how many another has.
 *
 * @module
 */

interface Waiting<T> {
  readonly item: T;
  readonly queue: string | undefined;
  /** When its turn has come: the later, the larger it is. */
  readonly due: number;
}

/**
 * What waits for its turn, each as if it alone had to wait until as much was done as it is itself, and
 * as what waits before it in its queue. So nobody who comes again and again, with one piece of work at a
 * time or with many in one queue, gets more done before another's turn than that other one asks for.
 */
export class Turns<T> {
  #waiting: Waiting<T>[] = [];
  #now = 0;

  /** How many wait. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Puts in a piece of work, of any unit of size; without a queue it is in one of its own. */
  add(item: T, size: number, queue?: string): void {
    let from = this.#now;
    for (const one of this.#waiting) {
      if (queue !== undefined && one.queue === queue) from = Math.max(from, one.due);
    }
    this.#waiting.push({ item, queue, due: from + size });
  }

  /** Takes out the one that is due first; of equals, the one that came first. */
  take(): T | undefined {
    let first: Waiting<T> | undefined;
    for (const one of this.#waiting) if (first === undefined || one.due < first.due) first = one;
    if (first === undefined) return undefined;
    this.#now = Math.max(this.#now, first.due);
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    return first.item;
  }

  /** Takes out a piece that nobody wants any more. */
  delete(item: T): void {
    this.#waiting = this.#waiting.filter((one) => one.item !== item);
  }
}
