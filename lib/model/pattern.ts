/**
 * Patterns of names: `*` stands for any text, be it empty; everything else for itself.
 *
 * @module
 */

/** Whether the whole text fits the pattern. Takes time in proportion to their lengths' product at worst. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first, ...rest] = pattern.split("*");
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first!)) return false;
  const last = rest.pop()!;
  let at = first!.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** Whether the text fits any of the patterns. */
export function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text));
}
