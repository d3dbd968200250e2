/**
 * The known word that a mistyped one was most likely meant to be.
 *
 * @module
 */

/** The candidate nearest to `word`, where one is near enough to be worth naming. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const plain = simplify(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = distanceBetween(plain, simplify(candidate), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Case and separators are what people get wrong most; they do not count. */
function simplify(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[-_. ]/g, "");
}

/** What only goes on where the other ends (warn, warning) is as near as one slip. */
function distanceBetween(a: string, b: string, limit: number): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= 4 && long.startsWith(short) && a !== b) return 1;
  return editDistance(a, b, limit);
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; `limit` or more is cut short. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
      }
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
