/**
 * What Istio objects a service becomes besides its ServiceEntry, by their names: asked wherever the
 * objects of a service have to be found again.
 *
 * @module
 */
import type { Service } from "./service.ts";

/** Kinds that our own services become. */
export const OWN_KINDS = ["ServiceEntry", "VirtualService", "DestinationRule"] as const;

/** A kind that our own services become. */
export type OwnKind = (typeof OWN_KINDS)[number];

/** The part of a service that names its objects. */
export type Named = Pick<Service, "name" | "hosts" | "subsets" | "split" | "failover">;

/** What the names of labels begin with that put endpoints in the order of `failover`. */
export const FAILOVER_LABEL = "pinnace-failover-";

/** Longest name of an object. */
const MOST_CHARACTERS = 253;

/** Names (without the namespace) of the objects that a service may become, of each kind; without `split` no VirtualService, and so on. */
export function ownNames(service: Named): Readonly<Record<OwnKind, readonly string[]>> {
  const { name, hosts, subsets, split, failover } = service;
  return {
    ServiceEntry: [name],
    VirtualService: split === undefined ? [] : [name],
    DestinationRule: subsets === undefined && failover === undefined
      ? []
      : hosts.map((_host, index) => destinationRuleName(name, index)),
  };
}

/** A DestinationRule has one host: that of the first is named as the service, each further one by its place. */
function destinationRuleName(name: string, index: number): string {
  if (index === 0) return name;
  const suffix = `-host-${index + 1}`;
  return name.slice(0, MOST_CHARACTERS - suffix.length).replace(/[-.]+$/, "") + suffix;
}
