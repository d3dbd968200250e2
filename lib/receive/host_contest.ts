/**
 * Who has a host that entries of several parts name. An entry that has all its hosts leads; one that
 * wants a host of another part's leader is out, or gives that leader its endpoints.
 *
 * Our own entries lead always. Of others, those that want a host of an entry where their source has no
 * say go last; then those that have their hosts already keep them; then the order of the parts and of
 * the names counts. Within one part equal hosts are that part's own affair.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { MergeMode } from "../model/settings.ts";
import type { Collection } from "../snapshot/collection.ts";
import { type Contender, contenderOf } from "./contender.ts";
import { HostIndex } from "./host_index.ts";
import { HostRanking } from "./host_ranking.ts";
import type { Limits } from "./limits.ts";
import {
  MERGE_BOUNDS,
  type MergeBounds,
  MergeGroup,
  whyLeftOut,
  whyNoGroup,
} from "./merge_group.ts";
import type { Offer, Part } from "./offer.ts";
import type { Refusal } from "./refusal.ts";

/** How hosts are kept apart. */
export interface HostContestOptions {
  readonly merge: MergeMode;
  /** Who may fill what. Of a change there {@link HostContest.relimit} is to be told. */
  readonly limits: Limits;
  readonly bounds?: MergeBounds;
}

/** What was under a name before a change. */
interface Before {
  readonly contender: Contender | undefined;
  readonly led: boolean;
  readonly overreached: boolean;
}

/** Keeps hosts apart. Work for a change is in proportion to the entries that it puts in, or out, of their hosts. */
export class HostContest {
  readonly #index: HostIndex;
  readonly #limits: Limits;
  readonly #bounds: MergeBounds;
  readonly #contenders = new Map<string, Contender>();
  readonly #byKey = new Map<string, Set<Contender>>();
  /** Those that want a host of an entry where their source has no say. */
  readonly #overreaching = new Set<Contender>();
  /** Names of entries that are not served, in the order in which they came to be that. */
  readonly #refused = new Set<string>();
  /** By key; where merging is wanted and someone might be merged. */
  readonly #groups = new Map<string, MergeGroup>();
  /** What changed since the last {@link resolve}. */
  readonly #before = new Map<string, Before>();
  /** Keys of groups that are to be looked at anew. */
  readonly #stale = new Set<string>();
  #mode: MergeMode;

  constructor({ merge, limits, bounds = MERGE_BOUNDS }: HostContestOptions) {
    this.#mode = merge;
    this.#limits = limits;
    this.#bounds = bounds;
    this.#index = new HostIndex(limits);
  }

  /** How many entries are not served. */
  get refused(): number {
    return this.#refused.size;
  }

  /** Entries that are not served, in the order in which they came to be that; at most `limit`. */
  refusals(limit: number): readonly Refusal[] {
    return Array.from(this.#refused.values().take(limit), (name) => this.#refusal(name));
  }

  /** Forgets everything; these, all of one part, lead. */
  reset(offers: Iterable<Offer>): void {
    const all = [this.#contenders, this.#byKey, this.#overreaching, this.#refused, this.#groups];
    for (const each of [...all, this.#before, this.#stale, this.#index]) each.clear();
    for (const offer of offers) this.#add(contenderOf(offer), true);
  }

  /** This, or nothing, is what the parts offer under a name from now on; {@link resolve} tells what follows. */
  put(name: string, offer: Offer | undefined): void {
    const was = this.#contenders.get(name);
    if (was !== undefined && was.part === offer?.part && was.resource === offer.resource) return;
    if (!this.#before.has(name)) {
      const led = was !== undefined && this.#index.leads(was);
      const overreached = was !== undefined && this.#overreaching.has(was);
      this.#before.set(name, { contender: was, led, overreached });
    }
    if (was !== undefined) this.#delete(was);
    if (offer !== undefined) this.#add(contenderOf(offer), false);
  }

  /** What becomes of hosts that are contested; {@link resolve} tells what follows. */
  setMode(mode: MergeMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    for (const contender of this.#contenders.values()) {
      if (!this.#index.leads(contender)) this.#stale.add(contender.key);
    }
  }

  /** A part may fill other namespaces from now on; {@link resolve} tells what follows. */
  relimit(part: Part): void {
    for (const contender of this.#contenders.values()) {
      if (contender.part !== part) continue;
      this.#index.relimit(contender);
      if (!this.#index.leads(contender)) this.#stale.add(contender.key);
    }
  }

  /**
   * What is served under each name where that may have changed; undefined: nothing. `served` is what was
   * served before a restart: where it is given, it decides who has a host, not who has it now.
   */
  resolve(served?: Collection): ReadonlyMap<string, Resource | undefined> {
    const ranking = new HostRanking(
      this.#index,
      (contender) => this.#strength(contender, served),
    );
    this.#watchReach(ranking);
    for (const [name, before] of this.#before) this.#seed(ranking, name, before);
    const unseated = served === undefined ? undefined : this.#unseat(ranking);
    ranking.run();
    const decided = new Set(ranking.changed);
    for (const contender of unseated ?? []) {
      if (this.#index.leads(contender)) decided.delete(contender);
      else decided.add(contender);
    }
    const results = this.#settle(decided);
    this.#before.clear();
    return results;
  }

  #add(contender: Contender, leads: boolean): void {
    this.#contenders.set(contender.resource.name, contender);
    this.#index.add(contender, leads);
    if (contender.hosts.length === 0) return;
    const equal = this.#byKey.get(contender.key);
    if (equal === undefined) this.#byKey.set(contender.key, new Set([contender]));
    else equal.add(contender);
  }

  #delete(contender: Contender): void {
    this.#contenders.delete(contender.resource.name);
    this.#overreaching.delete(contender);
    this.#index.delete(contender);
    const equal = this.#byKey.get(contender.key);
    equal?.delete(contender);
    if (equal?.size === 0) this.#byKey.delete(contender.key);
  }

  /** Sees who wants, since the last time or no longer, a host of an entry where it has no say. */
  #watchReach(ranking: HostRanking): void {
    for (const name of this.#before.keys()) {
      const contender = this.#contenders.get(name);
      if (contender !== undefined) this.#reach(contender);
    }
    for (const share of this.#index.takeTouched()) {
      for (const contender of share.members()) {
        if (!this.#reach(contender)) continue;
        const isWeaker = this.#overreaching.has(contender);
        if (isWeaker === this.#index.leads(contender)) ranking.add(contender);
        if (isWeaker && this.#index.leads(contender)) ranking.release(contender);
      }
    }
  }

  /** Whether what is known of it changes. */
  #reach(contender: Contender): boolean {
    const overreaches = this.#index.overreaches(contender);
    if (overreaches === this.#overreaching.has(contender)) return false;
    if (overreaches) this.#overreaching.add(contender);
    else this.#overreaching.delete(contender);
    return true;
  }

  #seed(ranking: HostRanking, name: string, { contender: was, led, overreached }: Before): void {
    const is = this.#contenders.get(name);
    if (is !== undefined) ranking.add(is);
    if (was === undefined || !led) return;
    const isAsStrong = is?.part === was.part && is.key === was.key &&
      (overreached || !this.#overreaching.has(is));
    if (!isAsStrong) ranking.release(was);
  }

  /** Everyone who shares contested hosts with what changed, and so on, is to be decided; gives those who led. */
  #unseat(ranking: HostRanking): ReadonlySet<Contender> {
    const now = [...this.#before.keys()].flatMap((name) => this.#contenders.get(name) ?? []);
    const left = [...this.#before.values()].flatMap(({ contender }) => contender?.hosts ?? []);
    const had = new Set<Contender>();
    for (const contender of this.#index.field(now, left)) {
      if (this.#index.leads(contender)) had.add(contender);
      this.#index.lead(contender, false);
      ranking.add(contender);
    }
    return had;
  }

  /** The least goes first: our own; then who has all contested hosts already, has some of them, has none. */
  #strength(contender: Contender, served: Collection | undefined): number {
    const { part, resource: { name, version } } = contender;
    if (part.order === 0) return 0;
    const later = this.#overreaching.has(contender) ? 3 : 0;
    if (served === undefined) return later + this.#hold(contender);
    const before = served.get(name);
    return later + (before === undefined ? 3 : before.version === version ? 1 : 2);
  }

  #hold(contender: Contender): number {
    const { part, resource: { name }, hosts, key } = contender;
    const before = this.#before.get(name);
    if (before === undefined) return this.#index.leads(contender) ? 1 : 3;
    const was = before.contender;
    if (was?.part !== part || !before.led) return 3;
    if (was.key === key) return 1;
    const had = new Set(was.hosts);
    const contested = hosts.filter((host) => this.#index.isContested(host));
    const kept = contested.filter((host) => had.has(host));
    return kept.length === contested.length ? 1 : kept.length > 0 ? 2 : 3;
  }

  /** What follows from who leads now. */
  #settle(decided: ReadonlySet<Contender>): ReadonlyMap<string, Resource | undefined> {
    const results = new Map<string, Resource | undefined>();
    const subjects = new Set(decided);
    for (const [name, { contender: was }] of this.#before) {
      if (was !== undefined) this.#stale.add(was.key);
      const is = this.#contenders.get(name);
      if (is !== undefined) subjects.add(is);
      else this.#refused.delete(name);
      results.set(name, undefined);
    }
    for (const contender of subjects) {
      const { name } = contender.resource;
      const leads = this.#index.leads(contender);
      if (leads) this.#refused.delete(name);
      else this.#refused.add(name);
      results.set(name, leads ? contender.resource : undefined);
      this.#stale.add(contender.key);
    }
    for (const key of this.#stale) this.#regroup(key, results);
    this.#stale.clear();
    return results;
  }

  /** Merges who can be merged, among those of equal hosts. The rest is refused. */
  #regroup(key: string, results: Map<string, Resource | undefined>): void {
    const before = this.#groups.get(key);
    const isWanted = this.#mode === "endpoints";
    if (!isWanted && before === undefined) return;
    let leader: Contender | undefined;
    const followers: Contender[] = [];
    for (const one of this.#byKey.get(key) ?? []) {
      if (!this.#index.leads(one)) followers.push(one);
      else if (leader === undefined || one.resource.name < leader.resource.name) leader = one;
    }
    const group = isWanted && leader !== undefined && followers.length > 0
      ? new MergeGroup(leader, followers, this.#limits, this.#bounds, before)
      : undefined;
    if (group === undefined) this.#groups.delete(key);
    else this.#groups.set(key, group);
    for (const follower of followers) {
      if (group?.merged.has(follower)) this.#refused.delete(follower.resource.name);
      else this.#refused.add(follower.resource.name);
    }
    // Who had the others' endpoints until now is by itself again.
    if (before !== undefined && this.#isThere(before.leader)) {
      results.set(before.leader.resource.name, before.leader.resource);
    }
    if (leader !== undefined) {
      results.set(leader.resource.name, group?.resource ?? leader.resource);
    }
  }

  #isThere(contender: Contender): boolean {
    return this.#contenders.get(contender.resource.name) === contender &&
      this.#index.leads(contender);
  }

  #refusal(name: string): Refusal {
    const offer = this.#contenders.get(name)!;
    const { host, leader } = this.#index.holder(offer)!;
    const equal = this.#groups.get(offer.key)?.leader;
    if (equal !== undefined) {
      const difference = whyLeftOut(equal, offer, this.#limits, this.#bounds);
      return { offer, host, leader: equal, difference };
    }
    const difference = whyNoGroup(leader, offer, this.#limits, this.#mode);
    return { offer, host, leader, ...(difference && { difference }) };
  }
}
