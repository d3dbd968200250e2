/**
 * Services that cannot be made resources of.
 *
 * @module
 */
import type { ViewFinding } from "./recipe.ts";

/**
 * What other sources give may be what nobody thought of: one service that cannot be made a resource of
 * is left out, and takes neither the others nor the process with it.
 */
export function attempt<Result>(make: () => Result, otherwise: (why: string) => Result): Result {
  try {
    return make();
  } catch (error) {
    return otherwise(error instanceof Error ? error.message : String(error));
  }
}

/** That something of a service could not be made. */
export function failed(key: string, why: string): ViewFinding {
  const message = `cannot be served: ${why}; change what is named there`;
  return { key, rule: "view/failed", message };
}
