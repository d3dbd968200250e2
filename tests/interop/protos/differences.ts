/**
 * What sets two descriptions of one type apart, in words.
 *
 * @module
 */
import type { Description, Field, Method } from "./describe.ts";

/** A line for each difference; none: the two are the same. */
export function differences(ours: Description, theirs: Description | undefined): string[] {
  const { name } = ours;
  if (theirs === undefined) return [`${name}: only we have it`];
  const ids = (fields: readonly Field[]) => new Map(fields.map((f) => [f.name, f]));
  const methods = (list: readonly Method[]) => new Map(list.map((m) => [m.name, m]));
  return [
    ...compare(name, ids(ours.fields), ids(theirs.fields), properties),
    ...compare(name, methods(ours.methods), methods(theirs.methods), properties),
    ...compare(name, valuesOf(ours), valuesOf(theirs), (a, b) => a === b ? [] : [`${a}, not ${b}`]),
    ...compare(name, new Map(ours.nested.map((n) => [n, n])), nestedOf(theirs), () => []),
  ];
}

function valuesOf(description: Description): Map<string, number> {
  return new Map(Object.entries(description.values));
}

function nestedOf(description: Description): Map<string, string> {
  return new Map(description.nested.map((name) => [name, name]));
}

function compare<T>(
  scope: string,
  ours: ReadonlyMap<string, T>,
  theirs: ReadonlyMap<string, T>,
  tell: (ours: T, theirs: T) => string[],
): string[] {
  const out: string[] = [];
  for (const [name, mine] of ours) {
    const other = theirs.get(name);
    if (other === undefined) out.push(`${scope}: only we have ${name}`);
    else out.push(...tell(mine, other).map((what) => `${scope}.${name}: ${what}`));
  }
  for (const name of theirs.keys()) {
    if (!ours.has(name)) out.push(`${scope}: only they have ${name}`);
  }
  return out;
}

function properties<T extends object>(ours: T, theirs: T): string[] {
  const [mine, other] = [new Map(Object.entries(ours)), new Map(Object.entries(theirs))];
  return [...new Set([...mine.keys(), ...other.keys()])]
    .filter((key) => mine.get(key) !== other.get(key))
    .map((key) => `${key} is ${mine.get(key)}, theirs ${other.get(key)}`);
}
