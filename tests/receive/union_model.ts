/**
 * What a union should be, worked out anew at every step.
 *
 * @module
 */
import type { MergeMode } from "../../lib/model/settings.ts";

/** An entry as the model sees it. */
export interface Entry {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly port: number;
  readonly addresses: readonly string[];
}

/** How many entries may be merged into one here. */
export const MERGED = 2;

interface Claim {
  readonly part: string;
  readonly entry: Entry;
}

/** What is served under a name: whose, and which addresses with the part that each is of. */
export interface Served {
  readonly part: string;
  readonly addresses: readonly string[];
}

/** Parts, who holds which name, who leads with which hosts. Every step goes through everything. */
export class Model {
  #parts: { name: string; entries: ReadonlyMap<string, Entry> }[] = [
    { name: "", entries: new Map() },
  ];
  #holders = new Map<string, string>();
  leaders = new Map<string, Claim>();
  refused = new Set<string>();
  served = new Map<string, Served>();
  readonly limits = new Map<string, readonly string[]>();

  mayFill(part: string, name: string): boolean {
    const namespaces = this.limits.get(part) ?? [];
    return namespaces.length === 0 || namespaces.includes(name.split("/")[0]!);
  }

  set(name: string, entries: readonly Entry[] | undefined): void {
    const map = new Map((entries ?? []).map((one) => [one.name, one]));
    const at = this.#parts.findIndex((part) => part.name === name);
    if (at >= 0 && (entries !== undefined || name === "")) this.#parts[at] = { name, entries: map };
    else if (at >= 0) this.#parts.splice(at, 1);
    else if (entries !== undefined) this.#parts.push({ name, entries: map });
  }

  step(merge: MergeMode): void {
    const order = this.#parts.map(({ name }) => name);
    const claims = this.#claims();
    const strong = claims.map((claim) => ({ claim, strength: this.#strength(claim, claims) }));
    strong.sort((a, b) =>
      a.strength - b.strength || order.indexOf(a.claim.part) - order.indexOf(b.claim.part) ||
      (a.claim.entry.name < b.claim.entry.name ? -1 : 1)
    );
    const leaders: Claim[] = [];
    for (const { claim } of strong) {
      if (!leaders.some((l) => contend(l, claim))) leaders.push(claim);
    }
    this.leaders = new Map(leaders.map((claim) => [claim.entry.name, claim]));
    const others = claims.filter((claim) => !leaders.includes(claim));
    others.sort((a, b) =>
      order.indexOf(a.part) - order.indexOf(b.part) || (a.entry.name < b.entry.name ? -1 : 1)
    );
    this.#serve(others, merge);
  }

  #serve(others: readonly Claim[], merge: MergeMode): void {
    const members = new Map([...this.leaders].map(([name, leader]) => [name, [leader]]));
    this.refused = new Set();
    const byName = [...this.leaders.keys()].sort();
    for (const other of others) {
      const target = byName.find((name) => haveEqualHosts(this.leaders.get(name)!, other));
      const isMerged = merge === "endpoints" && target !== undefined &&
        this.leaders.get(target)!.entry.port === other.entry.port &&
        this.mayFill(other.part, target) && members.get(target)!.length <= MERGED;
      if (isMerged) members.get(target)!.push(other);
      else this.refused.add(other.entry.name);
    }
    this.served = new Map([...members].map(([name, claims]) => {
      const addresses = new Map<string, string>();
      for (const { part, entry: { addresses: own } } of claims) {
        const label = claims.length === 1 ? "" : part === "" ? "local" : part;
        for (const address of own) if (!addresses.has(address)) addresses.set(address, label);
      }
      const texts = [...addresses].map(([address, label]) => `${address} ${label}`);
      return [name, { part: claims[0]!.part, addresses: texts.sort() }];
    }));
  }

  #claims(): Claim[] {
    const names = new Set(this.#parts.flatMap(({ entries }) => [...entries.keys()]));
    const holders = new Map<string, string>();
    for (const name of names) {
      const offers = this.#parts.filter(({ entries }) => entries.has(name)).map((p) => p.name);
      const had = this.#holders.get(name);
      const keeps = offers[0] !== "" && had !== undefined && offers.includes(had);
      holders.set(name, keeps ? had : offers[0]!);
    }
    this.#holders = holders;
    return [...holders].map(([name, part]) => ({
      part,
      entry: this.#parts.find((one) => one.name === part)!.entries.get(name)!,
    }));
  }

  #strength(claim: Claim, claims: readonly Claim[]): number {
    if (claim.part === "") return 0;
    return this.#hold(claim, claims) + (this.#overreaches(claim, claims) ? 3 : 0);
  }

  #overreaches(claim: Claim, claims: readonly Claim[]): boolean {
    return claims.some((other) =>
      contend(claim, other) && !this.mayFill(claim.part, other.entry.name) &&
      this.mayFill(other.part, claim.entry.name)
    );
  }

  #hold(claim: Claim, claims: readonly Claim[]): number {
    const had = this.leaders.get(claim.entry.name);
    if (had?.part !== claim.part) return 3;
    const contested = claim.entry.hosts.filter((host) =>
      claims.some(({ part, entry }) => part !== claim.part && entry.hosts.includes(host))
    );
    const kept = contested.filter((host) => had.entry.hosts.includes(host)).length;
    return kept === contested.length ? 1 : kept > 0 ? 2 : 3;
  }
}

function contend(a: Claim, b: Claim): boolean {
  return a.part !== b.part && a.entry.hosts.some((host) => b.entry.hosts.includes(host));
}

function haveEqualHosts(a: Claim, b: Claim): boolean {
  const [one, two] = [a, b].map(({ entry }) => [...entry.hosts].sort().join());
  return one === two;
}
