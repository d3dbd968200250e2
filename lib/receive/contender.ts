/**
 * An entry that contends for its hosts.
 *
 * @module
 */
import { type EntryHosts, hostsOf } from "./entry_hosts.ts";
import { namespaceOf } from "./limits.ts";
import type { Offer } from "./offer.ts";

/** An entry that contends for its hosts; one for each name. */
export interface Contender extends Offer, EntryHosts {
  readonly namespace: string;
}

/** An offer, with what it contends for. */
export function contenderOf(offer: Offer): Contender {
  return { ...offer, ...hostsOf(offer.resource), namespace: namespaceOf(offer.resource.name) };
}
