/**
 * A queue that gives the least first, made for items that come in batches.
 *
 * @module
 */

interface Batch<T> {
  readonly items: readonly T[];
  at: number;
}

/** Gives the least of what is in it. A batch that is nearly in order already costs little more than its length. */
export class SortedQueue<T> {
  readonly #compare: (a: T, b: T) => number;
  /** A heap, by the first item that is left of each; none is empty. */
  readonly #batches: Batch<T>[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Adds a batch, in any order. */
  push(items: Iterable<T>): void {
    const sorted = [...items].sort(this.#compare);
    if (sorted.length === 0) return;
    this.#batches.push({ items: sorted, at: 0 });
    let at = this.#batches.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfLess(at, parent)) break;
      at = parent;
    }
  }

  /** Takes out the least; undefined where there is nothing. */
  shift(): T | undefined {
    const first = this.#batches[0];
    if (first === undefined) return undefined;
    const item = first.items[first.at++]!;
    if (first.at === first.items.length) {
      const last = this.#batches.pop()!;
      if (last !== first) this.#batches[0] = last;
    }
    this.#sink();
    return item;
  }

  #sink(): void {
    let at = 0;
    while (true) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      if (left >= this.#batches.length) return;
      const least = right < this.#batches.length && this.#isLess(right, left) ? right : left;
      if (!this.#swapIfLess(least, at)) return;
      at = least;
    }
  }

  #swapIfLess(a: number, b: number): boolean {
    if (!this.#isLess(a, b)) return false;
    const batches = this.#batches;
    [batches[a], batches[b]] = [batches[b]!, batches[a]!];
    return true;
  }

  #isLess(a: number, b: number): boolean {
    const [one, two] = [this.#batches[a]!, this.#batches[b]!];
    return this.#compare(one.items[one.at]!, two.items[two.at]!) < 0;
  }
}
