/**
 * Why something was published, in a few words.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Causes that are named; of further ones only their number is said. */
const NAMED = 3;

/** The first few causes, then how many there are besides: `shop.yaml, edge-1 and 7 more`. */
export function causesOf(causes: readonly Cause[]): string {
  const named = causes.filter((cause) => cause.kind !== "more");
  const shown = named.slice(0, NAMED).map(wordsOf);
  const more = named.length - shown.length +
    causes.reduce((sum, cause) => sum + (cause.kind === "more" ? cause.count : 0), 0);
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/**
 * What became different, as a count of what came, became another and went, and the first few names:
 * `+1 ~0 -2: shop/a, shop/b, shop/c`; empty where nothing did. ServiceEntries go by their name alone.
 */
export function changeOf(before: Snapshot, after: Snapshot): string {
  const names: string[] = [];
  let [added, changed, removed] = [0, 0, 0];
  for (const [kind, collection] of after.collections) {
    const old = before.collections.get(kind);
    const diff = old && collection.diff(old);
    const nameOf = (name: string) => kind === "ServiceEntry" ? name : `${kind}/${name}`;
    for (const { name } of diff?.changed ?? collection) {
      if (old?.get(name) === undefined) added++;
      else changed++;
      if (names.length < NAMED) names.push(nameOf(name));
    }
    removed += diff?.removed.length ?? 0;
    for (const name of diff?.removed.slice(0, NAMED - names.length) ?? []) names.push(nameOf(name));
  }
  const all = added + changed + removed;
  if (all === 0) return "";
  const more = all > names.length ? ` and ${all - names.length} more` : "";
  return `+${added} ~${changed} -${removed}: ${names.join(", ")}${more}`;
}

function wordsOf(cause: Cause): string {
  switch (cause.kind) {
    case "file":
      return cause.what === "changed" ? cause.name : `${cause.name} (${cause.what})`;
    case "source":
      return cause.name;
    case "confirmed":
      return `confirmed ${cause.id}`;
    case "start":
      return "the start";
    case "settings":
      return "settings";
    case "more":
      return `${cause.count} more`;
  }
}
