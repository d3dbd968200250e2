/**
 * Which endpoints of a service take new requests, and in which order of preference.
 *
 * @module
 */
import type { Endpoint, Service } from "./service.ts";

/** The part of a service that says which endpoints are in service. */
export type Operated = Pick<Service, "endpoints" | "minHealthy">;

/**
 * Whether `drain` counts for this service: not where every endpoint drains, nor where the share of
 * those that do not is below `minHealthy`; then all of them are in service.
 */
export function honoursDrain({ endpoints, minHealthy = 0 }: Operated): boolean {
  const staying = endpoints.filter(({ drain }) => drain !== true).length;
  return staying > 0 && staying >= minHealthy * endpoints.length;
}

/**
 * The priority of each endpoint, 0 the first to be used: the place in `failover` of the first locality
 * that the endpoint's own falls under, by whole segments; of those under none, one more. Without gaps:
 * a place that no endpoint has does not count.
 */
export function prioritiesOf(
  endpoints: readonly Pick<Endpoint, "locality">[],
  failover: readonly string[] = [],
): readonly number[] {
  const places = endpoints.map(({ locality }) => {
    const place = failover.findIndex((one) => isWithin(locality, one));
    return place < 0 ? failover.length : place;
  });
  const taken = [...new Set(places)].sort((a, b) => a - b);
  return places.map((place) => taken.indexOf(place));
}

/** Whether a locality (`region/zone/subzone`) is another, or part of it. */
export function isWithin(locality: string, outer: string): boolean {
  return locality === outer || locality.startsWith(`${outer}/`);
}

/** Whether an endpoint has all these labels. */
export function hasLabels(
  endpoint: Pick<Endpoint, "labels">,
  labels: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(labels).every(([key, value]) => endpoint.labels[key] === value);
}
