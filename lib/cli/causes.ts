/**
 * Why something was published, in a few words.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";

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

function wordsOf(cause: Cause): string {
  switch (cause.kind) {
    case "file":
      return cause.what === "changed" ? cause.name : `${cause.name} (${cause.what})`;
    case "source":
      return cause.name;
    case "confirmed":
      return `confirmed ${cause.id}`;
    case "start":
      return "from the store";
    case "settings":
      return "settings";
    case "more":
      return `${cause.count} more`;
  }
}
