/**
 * The part of a contest for hosts that a change can concern.
 *
 * @module
 */
import type { EntryHosts } from "./entry_hosts.ts";
import type { Offer, Part } from "./offer.ts";

/** An entry that contends for its hosts; one for each name. */
export interface Contender extends Offer, EntryHosts {}

/** Contenders that a change concerns: who shares a host with one of them across parts is one as well. */
export class HostField {
  /** In no particular order. */
  readonly contenders = new Set<Contender>();
  readonly #byHost: ReadonlyMap<string, ReadonlySet<Contender>>;
  readonly #contested = new Map<string, boolean>();

  constructor(byHost: ReadonlyMap<string, ReadonlySet<Contender>>) {
    this.#byHost = byHost;
  }

  /** Adds one. */
  add(contender: Contender): void {
    this.contenders.add(contender);
  }

  /** Adds who names the host, but for those of one part: they are never in each other's way. */
  addSharers(host: string, except?: Part): void {
    for (const contender of this.#byHost.get(host) ?? []) {
      if (contender.part !== except) this.contenders.add(contender);
    }
  }

  /** Adds who contends for a host with someone in it, until there is no one left. */
  grow(): void {
    const done = new Set<string>();
    // What is added to a set while it is gone through is gone through as well.
    for (const { hosts } of this.contenders) {
      for (const host of hosts) {
        if (done.has(host)) continue;
        done.add(host);
        if (this.isContested(host)) this.addSharers(host);
      }
    }
  }

  /** Whether several parts name it. */
  isContested(host: string): boolean {
    let contested = this.#contested.get(host);
    if (contested === undefined) {
      const [first, ...others] = this.#byHost.get(host) ?? [];
      contested = others.some(({ part }) => part !== first!.part);
      this.#contested.set(host, contested);
    }
    return contested;
  }
}
