/**
 * Whether whom we dial is still the same after a change of settings.
 *
 * @module
 */
import type { DialTarget } from "./dial_target.ts";

/** Whether two targets are equal in all they say, whatever the order of their keys. */
export function sameTarget<T extends DialTarget>(a: T, b: T): boolean {
  return canonical(a) === canonical(b);
}

function canonical(target: DialTarget): string {
  return JSON.stringify(target, (_key, value: unknown) => {
    if (!(value instanceof Object) || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
  });
}
