/**
 * Rules that send a service's traffic to other services: who aims at which host, so that a change of
 * one service reaches the rules that lead to it.
 *
 * @module
 */
import type { Traffic } from "./served_service.ts";

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
