/**
 * Which part of a service is served, and to whom.
 *
 * @module
 */
import type { Endpoint, Service } from "../../model/service.ts";
import type { ViewFinding } from "../recipe.ts";
import type { ServedService } from "../served_service.ts";

/** Whether no client may see the service: it is exported to nobody. */
export function isHidden({ exportTo }: Service): boolean {
  return exportTo.length > 0 && exportTo.every((to) => to === "~");
}

/** Whether the service is looked up by name. */
export function isLookedUp({ resolution }: Service): boolean {
  return resolution === "DNS" || resolution === "DNS_ROUND_ROBIN";
}

/**
 * The service as often as it has destinations: where its hosts are looked up themselves, for want of
 * endpoints, each host leads elsewhere and is served as a service of its own (of which the first alone
 * has the service's other names); else the service as it is.
 */
export function destinations(service: Service): readonly Service[] {
  if (!isHostItself(service)) return [service];
  const own = service.hosts.map((host): Endpoint => ({ ...NO_ENDPOINT, address: host }));
  return service.hosts.map((host, index) => ({
    ...service,
    hosts: [host],
    endpoints: [own[index]!],
    ...(index === 0 ? {} : { aliases: [], addresses: [] }),
  }));
}

/** Whether there are no endpoints but the hosts themselves. A selector's endpoints are others, even where it selects none. */
export function isHostItself(service: Service): boolean {
  return isLookedUp(service) && service.endpoints.length === 0 &&
    service.workloadSelector === undefined;
}

const NO_ENDPOINT = { ports: {}, labels: {}, network: "", locality: "", serviceAccount: "" };

/** The endpoints that have all these labels. */
export function endpointsWith(
  endpoints: readonly Endpoint[],
  labels: Readonly<Record<string, string>>,
): readonly Endpoint[] {
  const wanted = Object.entries(labels);
  return endpoints.filter((endpoint) =>
    wanted.every(([key, value]) =>
      Object.hasOwn(endpoint.labels, key) && endpoint.labels[key] === value
    )
  );
}

/** A finding for each thing that rules ask for and no client here gets, and one of rules that others go before. */
export function unservedFindings({ key, traffic }: ServedService): ViewFinding[] {
  const { unserved, overruled = [] } = traffic;
  const findings = unserved.map((what) => ({
    key,
    rule: "view/unserved-traffic",
    message: `clients that are served by xDS do not get ${what}`,
  }));
  if (overruled.length === 0) return findings;
  const shown = overruled.slice(0, MOST_OVERRULED);
  const more = overruled.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  const message = `of several rules for its hosts, not all are followed: ${shown.join("; ")}`;
  return [...findings, { key, rule: "view/other-rules", message }];
}

/** Rules that a finding names. */
const MOST_OVERRULED = 10;
