/**
 * The union of what several parts have of one kind.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { MergeMode } from "../model/settings.ts";
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import { Collection } from "../snapshot/collection.ts";
import { HostContest, type HostContestOptions } from "./host_contest.ts";
import type { Offer, Part } from "./offer.ts";
import type { Refusal } from "./refusal.ts";

/** How a kind is united. */
export interface KindUnionOptions {
  /** What becomes of contested hosts; absent: the kind has none. */
  readonly hosts?: HostContestOptions;
}

/** A name that several parts offer. */
export interface NameContest {
  readonly name: string;
  readonly holder: Offer;
  /** Whose resource of this name is left out. */
  readonly others: readonly Offer[];
}

interface Share {
  readonly part: Part;
  readonly collection: Collection;
}

const NOTHING = Collection.empty(MCP_RESOURCE_TYPE_URL);

/** Unites one kind. Where only one part has any of it, that part's collection is the union and nothing is looked at. */
export class KindUnion {
  /** In the order of the parts; none is empty. */
  #shares: readonly Share[] = [];
  #collection = NOTHING;
  /** Who has a name that several offer. */
  readonly #holders = new Map<string, Part>();
  readonly #hosts: HostContest | undefined;

  constructor({ hosts }: KindUnionOptions) {
    this.#hosts = hosts && new HostContest(hosts);
  }

  /** What is served. */
  get collection(): Collection {
    return this.#collection;
  }

  /** How many names several parts offer. */
  get contestedNames(): number {
    return this.#holders.size;
  }

  /** Names that several parts offer. */
  contested(): IterableIterator<string> {
    return this.#holders.keys();
  }

  /** How many entries are not served since another's has one of their hosts. */
  get contestedHosts(): number {
    return this.#hosts?.refused ?? 0;
  }

  /** Names that several parts offer; at most `limit`. */
  nameContests(limit: number): readonly NameContest[] {
    return Array.from(this.#holders.entries().take(limit), ([name, part]) => {
      const offers = this.#offers(name);
      const holder = offers.find((offer) => offer.part === part)!;
      return { name, holder, others: offers.filter((offer) => offer !== holder) };
    });
  }

  /** Entries that are not served for their hosts; at most `limit`. */
  refusals(limit: number): readonly Refusal[] {
    return this.#hosts?.refusals(limit) ?? [];
  }

  /** Whose resource is served under a name. */
  owner(name: string): Part | undefined {
    if (this.#collection.get(name) === undefined) return undefined;
    return this.#holders.get(name) ?? this.#offers(name)[0]?.part;
  }

  /** What a part has from now on. `served` is what was served before a restart, as long as that decides. */
  set(part: Part, next: Collection, served?: Collection): void {
    const before = this.#shares.find((share) => share.part === part)?.collection ?? NOTHING;
    if (next === before || (next.size === 0 && before.size === 0)) return;
    const others = this.#shares.filter((share) => share.part !== part);
    this.#shares = next.size === 0
      ? others
      : [...others, { part, collection: next }].sort((a, b) => a.part.order - b.part.order);
    if (this.#shares.length < 2) return this.#takeWhole();
    if (before === NOTHING && others.length === 1) this.#hosts?.reset(offersOf(others[0]!));
    const { changed, removed } = next.diff(before);
    const names = [...changed.map(({ name }) => name), ...removed];
    this.#change(names, part, served);
  }

  /** What becomes of contested hosts from now on. */
  setMerge(merge: MergeMode): void {
    if (this.#hosts === undefined) return;
    this.#hosts.setMode(merge);
    if (this.#shares.length > 1) this.#patch(this.#hosts.resolve());
  }

  /** A part may fill other namespaces from now on. */
  relimit(part: Part): void {
    if (this.#hosts === undefined || this.#shares.length < 2) return;
    this.#hosts.relimit(part);
    this.#patch(this.#hosts.resolve());
  }

  /** One part at most has any of the kind: nothing is contested. */
  #takeWhole(): void {
    this.#holders.clear();
    this.#hosts?.reset([]);
    const whole = this.#shares[0]?.collection ?? NOTHING;
    if (whole.version !== this.#collection.version) this.#collection = whole;
  }

  #change(names: readonly string[], part: Part, served: Collection | undefined): void {
    const results = new Map<string, Resource | undefined>();
    for (const name of names) {
      const offer = this.#winner(name, part, served);
      if (this.#hosts === undefined) results.set(name, offer?.resource);
      else this.#hosts.put(name, offer);
    }
    this.#patch(this.#hosts?.resolve(served) ?? results);
  }

  #patch(results: ReadonlyMap<string, Resource | undefined>): void {
    const changed: Resource[] = [];
    const removed: string[] = [];
    for (const [name, resource] of results) {
      if (resource === undefined) removed.push(name);
      else changed.push(resource);
    }
    this.#collection = this.#collection.patch(changed, removed);
  }

  /** Whose resource counts under a name of which `changed` has something new, or nothing any more. */
  #winner(name: string, changed: Part, served: Collection | undefined): Offer | undefined {
    const offers = this.#offers(name);
    if (offers.length < 2) {
      this.#holders.delete(name);
      return offers[0];
    }
    // Not contested until now: then who does not come with this change had it alone.
    const had = this.#holders.get(name) ?? offers.find(({ part }) => part !== changed)!.part;
    const winner = chooseHolder(offers, had, served?.get(name)?.version);
    this.#holders.set(name, winner.part);
    return winner;
  }

  /** Who offers a name, in the order of the parts. */
  #offers(name: string): Offer[] {
    return this.#shares.flatMap(({ part, collection }) => {
      const resource = collection.get(name);
      return resource === undefined ? [] : [{ part, resource }];
    });
  }
}

/** A person's own file goes first; then what was served before a restart; then who has the name; then the order. */
function chooseHolder(
  offers: readonly Offer[],
  had: Part,
  served: string | undefined,
): Offer {
  const first = offers[0]!;
  if (first.part.order === 0) return first;
  const asServed = offers.filter(({ resource }) => resource.version === served);
  const candidates = asServed.length > 0 ? asServed : offers;
  return candidates.find(({ part }) => part === had) ?? candidates[0]!;
}

function* offersOf({ part, collection }: Share): Iterable<Offer> {
  for (const resource of collection) yield { part, resource };
}
