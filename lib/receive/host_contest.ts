/**
 * Who has a host that entries of several parts name. An entry that has all its hosts leads; one that
 * wants a host of another part's leader is out, or gives that leader its endpoints.
 *
 * Our own entries lead always. Of others, those that have their hosts already keep them; then the order
 * of the parts and of the names counts. Within one part equal hosts are that part's own affair.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { MergeMode } from "../model/settings.ts";
import type { Collection } from "../snapshot/collection.ts";
import { hostsOf } from "./entry_hosts.ts";
import { type Contender, HostField } from "./host_field.ts";
import { type Limits, namespaceOf } from "./limits.ts";
import { mergeEndpoints, whyNotMerged } from "./merge_endpoints.ts";
import { compareOffers, type Offer, type Part } from "./offer.ts";

/** How hosts are kept apart. */
export interface HostContestOptions {
  readonly merge: MergeMode;
  /** Who may fill what. Of a change there {@link HostContest.relimit} is to be told. */
  readonly limits: Limits;
}

/** An entry that is not served, since another part's has one of its hosts. */
export interface Refusal {
  readonly offer: Offer;
  readonly host: string;
  /** Who has the host. */
  readonly leader: Offer;
  /** Why the two were not merged; absent where merging is not wanted. */
  readonly difference?: string;
}

/** Who an entry's endpoints went to. */
interface Merged {
  readonly leader: Contender;
  readonly others: readonly Contender[];
  readonly resource: Resource;
}

/** Whether an entry could be merged into its leader. */
interface Verdict {
  readonly leader: Contender;
  readonly difference: string | undefined;
}

/** Keeps hosts apart. Work for a change is in proportion to the entries that share hosts with what changed. */
export class HostContest {
  readonly #contenders = new Map<string, Contender>();
  readonly #byHost = new Map<string, Set<Contender>>();
  /** Names of entries that do not lead: refused, or merged into another. */
  readonly #followers = new Set<string>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #merged = new Map<string, Merged>();
  readonly #verdicts = new WeakMap<Contender, Verdict>();
  /** What changed since the last {@link resolve}, as it was before. */
  readonly #before = new Map<string, Contender | undefined>();
  readonly #limits: Limits;
  #mode: MergeMode;

  constructor({ merge, limits }: HostContestOptions) {
    this.#mode = merge;
    this.#limits = limits;
  }

  /** Entries that are not served, in the order in which they came to be that. */
  get refusals(): ReadonlyMap<string, Refusal> {
    return this.#refusals;
  }

  /** Forgets everything; these, all of one part, lead. */
  reset(offers: Iterable<Offer>): void {
    for (const map of [this.#contenders, this.#byHost, this.#refusals, this.#merged]) map.clear();
    this.#followers.clear();
    this.#before.clear();
    for (const offer of offers) this.#add({ ...offer, ...hostsOf(offer.resource) });
  }

  /** This, or nothing, is what the parts offer under a name from now on; {@link resolve} tells what follows. */
  put(name: string, offer: Offer | undefined): void {
    const was = this.#contenders.get(name);
    if (was !== undefined && was.part === offer?.part && was.resource === offer.resource) return;
    if (!this.#before.has(name)) this.#before.set(name, was);
    if (was !== undefined) this.#delete(was);
    if (offer !== undefined) this.#add({ ...offer, ...hostsOf(offer.resource) });
  }

  /** What becomes of hosts that are contested; {@link resolve} tells what follows. */
  setMode(mode: MergeMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    for (const name of this.#followers) {
      if (!this.#before.has(name)) this.#before.set(name, this.#contenders.get(name));
    }
  }

  /** A part may fill other namespaces from now on; {@link resolve} tells what follows. */
  relimit(part: Part): void {
    for (const [name, contender] of this.#contenders) {
      if (contender.part === part && !this.#before.has(name)) this.#before.set(name, contender);
    }
  }

  /**
   * What is served under each name that may have changed; undefined: nothing. `served` is what was served
   * before a restart: where it is given, it decides who has a host, not who has it now.
   */
  resolve(served?: Collection): ReadonlyMap<string, Resource | undefined> {
    const field = this.#field();
    const results = new Map<string, Resource | undefined>();
    for (const name of this.#before.keys()) {
      if (!this.#contenders.has(name)) this.#forget(name);
      results.set(name, undefined);
    }
    const { leaders, refused } = this.#rank(field, served);
    this.#before.clear();
    const followers = this.#settle(leaders, refused);
    for (const leader of leaders) {
      const { name } = leader.resource;
      this.#followers.delete(name);
      this.#refusals.delete(name);
      results.set(name, this.#merge(leader, followers.get(leader) ?? []));
    }
    for (const { resource: { name } } of refused.keys()) {
      this.#merged.delete(name);
      results.set(name, undefined);
    }
    return results;
  }

  #add(contender: Contender): void {
    this.#contenders.set(contender.resource.name, contender);
    for (const host of contender.hosts) {
      const sharers = this.#byHost.get(host);
      if (sharers === undefined) this.#byHost.set(host, new Set([contender]));
      else sharers.add(contender);
    }
  }

  #delete(contender: Contender): void {
    this.#contenders.delete(contender.resource.name);
    for (const host of contender.hosts) {
      const sharers = this.#byHost.get(host);
      sharers?.delete(contender);
      if (sharers?.size === 0) this.#byHost.delete(host);
    }
  }

  #forget(name: string): void {
    this.#followers.delete(name);
    this.#refusals.delete(name);
    this.#merged.delete(name);
  }

  /** Everyone whom a change can concern: who shares hosts with what changed, and so on. */
  #field(): HostField {
    const field = new HostField(this.#byHost);
    for (const [name, was] of this.#before) {
      const is = this.#contenders.get(name);
      if (is !== undefined) field.add(is);
      for (const host of was?.hosts ?? []) field.addSharers(host, was?.part);
    }
    field.grow();
    return field;
  }

  /** Goes through the field, the strongest claim first: who meets none that leads, leads. */
  #rank(field: HostField, served: Collection | undefined): Ranking {
    const claims = Array.from(
      field.contenders,
      (contender) => ({ contender, strength: this.#strength(contender, field, served) }),
    );
    claims.sort((a, b) => a.strength - b.strength || compareOffers(a.contender, b.contender));
    const leaders: Contender[] = [];
    const refused = new Map<Contender, Taken>();
    const leading = new Map<string, Contender>();
    for (const { contender } of claims) {
      const { part, hosts } = contender;
      const taken = hosts.find((host) => (leading.get(host)?.part ?? part) !== part);
      if (taken !== undefined) {
        refused.set(contender, { host: taken, leader: leading.get(taken)! });
        continue;
      }
      leaders.push(contender);
      for (const host of hosts) if (!leading.has(host)) leading.set(host, contender);
    }
    return { leaders, refused };
  }

  /** 0 goes first: our own; then who has all contested hosts already, has some of them, has none. */
  #strength(contender: Contender, field: HostField, served: Collection | undefined): number {
    const { part, resource: { name, version }, hosts } = contender;
    if (part.order === 0) return 0;
    if (served !== undefined) {
      const before = served.get(name);
      return before === undefined ? 3 : before.version === version ? 1 : 2;
    }
    const was = this.#before.has(name) ? this.#before.get(name) : contender;
    if (was === undefined || was.part !== part || this.#followers.has(name)) return 3;
    if (was.key === contender.key) return 1;
    const had = new Set(was.hosts);
    const contested = hosts.filter((host) => field.isContested(host));
    const kept = contested.filter((host) => had.has(host));
    return kept.length === contested.length ? 1 : kept.length > 0 ? 2 : 3;
  }

  /** Merges who can be merged; gives the others of each leader. The rest is refused. */
  #settle(
    leaders: readonly Contender[],
    refused: ReadonlyMap<Contender, Taken>,
  ): ReadonlyMap<Contender, readonly Contender[]> {
    const byKey = new Map<string, Contender>();
    for (const leader of leaders) {
      const other = byKey.get(leader.key);
      if (other === undefined || leader.resource.name < other.resource.name) {
        byKey.set(leader.key, leader);
      }
    }
    const followers = new Map<Contender, Contender[]>();
    for (const [contender, { host, leader }] of refused) {
      const { name } = contender.resource;
      this.#followers.add(name);
      const equal = byKey.get(contender.key);
      const difference = this.#mode === "refuse"
        ? undefined
        : equal === undefined
        ? "their hosts are not all the same"
        : !this.#limits.mayFill(contender.part.name, namespaceOf(equal.resource.name))
        ? `the source may not fill the namespace ${namespaceOf(equal.resource.name)}`
        : this.#difference(equal, contender);
      if (this.#mode === "endpoints" && equal !== undefined && difference === undefined) {
        this.#refusals.delete(name);
        followers.set(equal, [...followers.get(equal) ?? [], contender]);
      } else {
        const refusal = { offer: contender, host, leader: equal ?? leader };
        this.#refusals.set(name, difference === undefined ? refusal : { ...refusal, difference });
      }
    }
    return followers;
  }

  /** As {@link whyNotMerged}; asked once for each pair. */
  #difference(leader: Contender, other: Contender): string | undefined {
    let verdict = this.#verdicts.get(other);
    if (verdict?.leader !== leader) {
      verdict = { leader, difference: whyNotMerged(leader.resource, other.resource) };
      this.#verdicts.set(other, verdict);
    }
    return verdict.difference;
  }

  /** What is served in the name of a leader. Made anew only where one of those in it changed. */
  #merge(leader: Contender, others: readonly Contender[]): Resource {
    const { name } = leader.resource;
    if (others.length === 0) {
      this.#merged.delete(name);
      return leader.resource;
    }
    const sorted = others.toSorted(compareOffers);
    const before = this.#merged.get(name);
    const isSame = before !== undefined && before.leader === leader &&
      before.others.length === sorted.length &&
      before.others.every((other, index) => other === sorted[index]);
    if (isSame) return before.resource;
    const resource = mergeEndpoints(leader, sorted);
    this.#merged.set(name, { leader, others: sorted, resource });
    return resource;
  }
}

/** A host that an entry wants, and who has it. */
interface Taken {
  readonly host: string;
  readonly leader: Contender;
}

interface Ranking {
  readonly leaders: readonly Contender[];
  readonly refused: ReadonlyMap<Contender, Taken>;
}
