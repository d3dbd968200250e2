/**
 * Why an entry is not served.
 *
 * @module
 */
import type { Offer } from "./offer.ts";

/** An entry that is not served, since another part's has one of its hosts. */
export interface Refusal {
  readonly offer: Offer;
  readonly host: string;
  /** Who has the host. */
  readonly leader: Offer;
  /** Why the two were not merged; absent where merging is not wanted and the source's limits are no reason. */
  readonly difference?: Difference;
}

/** Why an entry is not merged into the one that has its host. */
export interface Difference {
  /** They differ; its source may not fill the other's namespace; the other has all that it may have. */
  readonly kind: "differs" | "limited" | "full";
  readonly text: string;
}
