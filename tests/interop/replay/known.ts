/**
 * The differences between go-control-plane's answers and ours that are meant. docs/differences.md
 * argues each under its name.
 *
 * @module
 */
import type { Difference } from "./differences.ts";

/** A difference that is meant. */
export interface Known {
  /** Heading in docs/differences.md. */
  readonly name: string;
  /** Whether a difference is of this kind. */
  readonly fits: (difference: Difference) => boolean;
}

/** Every one. */
export const KNOWN: readonly Known[] = [
  {
    name: "Istio's resources are Resources",
    fits: (difference) =>
      difference.kind === "answers" &&
      `${difference.ours.map((shown) => shown.replaceAll(" as Resource", ""))}` ===
        `${difference.theirs}`,
  },
];
