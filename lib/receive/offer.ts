/**
 * What one part offers to the union under one name.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";

export { OWN_PART } from "../rollout/parts.ts";

/** Someone who contributes to the union: our own configuration, or another source. */
export interface Part {
  /** {@link OWN_PART}, or the source's name. */
  readonly name: string;
  /** Who comes first among the parts: 0 is our own. */
  readonly order: number;
}

/** A resource of a part. */
export interface Offer {
  readonly part: Part;
  readonly resource: Resource;
}

/** Sorts by parts, then by names; independent of any locale. */
export function compareOffers(a: Offer, b: Offer): number {
  if (a.part.order !== b.part.order) return a.part.order - b.part.order;
  return a.resource.name < b.resource.name ? -1 : a.resource.name > b.resource.name ? 1 : 0;
}
