/**
 * Rules that send a service's traffic to other services: who aims at which host, so that a change of
 * one service reaches the rules that lead to it.
 *
 * @module
 */
import type { Traffic, WeightedTarget } from "./served_service.ts";

/** Who aims at which host. */
export class Aims {
  readonly #byHost = new Map<string, Set<string>>();
  readonly #byKey = new Map<string, readonly string[]>();

  /** The keys of services whose traffic is sent to this host. */
  at(host: string): Iterable<string> {
    return this.#byHost.get(host) ?? [];
  }

  /** The service of this key sends traffic to these hosts, and to no others any more. */
  set(key: string, hosts: readonly string[]): void {
    for (const host of this.#byKey.get(key) ?? []) {
      const keys = this.#byHost.get(host)!;
      keys.delete(key);
      if (keys.size === 0) this.#byHost.delete(host);
    }
    this.#byKey.delete(key);
    if (hosts.length === 0) return;
    this.#byKey.set(key, hosts);
    for (const host of hosts) {
      const keys = this.#byHost.get(host);
      if (keys === undefined) this.#byHost.set(host, new Set([key]));
      else keys.add(key);
    }
  }
}

/** Hosts that traffic is sent to and that are none of the service's own; each once. */
export function foreignHosts(traffic: Traffic, own: readonly string[]): string[] {
  const hosts = new Set<string>();
  for (const { to } of [...traffic.http, ...traffic.streams]) {
    for (const { host } of to) if (!own.includes(host)) hosts.add(host);
  }
  return [...hosts];
}

/**
 * Traffic whose targets are called by the hosts that their clusters are called by. `clusterHost` gives
 * that of a host; undefined where there is no such service, which is told.
 */
export function aimed(
  traffic: Traffic,
  foreign: readonly string[],
  clusterHost: (host: string) => string | undefined,
): Traffic {
  const names = new Map(foreign.map((host) => [host, clusterHost(host)]));
  const unserved = foreign.filter((host) => names.get(host) === undefined)
    .map((host) => `traffic that is sent to ${host}, since no service here has that host`);
  const redirect = <Route extends { readonly to: readonly WeightedTarget[] }>(route: Route) => ({
    ...route,
    to: route.to.map((target) => ({ ...target, host: names.get(target.host) ?? target.host })),
  });
  return {
    ...traffic,
    http: traffic.http.map(redirect),
    streams: traffic.streams.map(redirect),
    unserved: [...traffic.unserved, ...unserved],
  };
}
