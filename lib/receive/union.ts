/**
 * Unites what our own configuration and other sources give into one set of collections. Pure, and
 * incremental: a change costs what changed, not what there is.
 *
 * Who has a name (kind and namespace/name) that several parts offer: our own configuration, always,
 * since a person wrote it there; else who had it first, as long as it has it; then the next part in
 * order. A resource that is left out contends for no host.
 *
 * Who has a host that ServiceEntries of different names and parts claim: our own entries; else who had
 * it first. The other is not served, or, with `merge: endpoints`, its endpoints are, in the first one.
 *
 * A part that may fill some namespaces only has no say over hosts of entries elsewhere: it gives a host
 * to one of a part that may fill its namespaces too, and its endpoints to none.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import type { MergeMode } from "../model/settings.ts";
import { Collection } from "../snapshot/collection.ts";
import {
  CONTESTED_HOST_RULE,
  CONTESTED_NAME_RULE,
  hostFinding,
  moreFindings,
  nameFinding,
} from "./contest_findings.ts";
import { KindUnion } from "./kind_union.ts";
import { Limits } from "./limits.ts";
import { MERGE_BOUNDS, type MergeBounds } from "./merge_group.ts";
import { OWN_PART, type Part } from "./offer.ts";

/** How parts are united. */
export interface UnionOptions {
  readonly merge: MergeMode;
  /**
   * What was served before, by kind, for example by a snapshot that was stored. It decides who has what
   * until {@link Union.settle}, or until a part that is there changes.
   */
  readonly served?: ReadonlyMap<string, Collection>;
  /** How much may be merged into one entry; absent: {@link MERGE_BOUNDS}. */
  readonly bounds?: MergeBounds;
}

/** Findings shown of one rule; the rest is counted. */
const SHOWN = 50;

/** The only kind that has hosts to contend for. */
const WITH_HOSTS = "ServiceEntry";

const NOTHING = Collection.empty(MCP_RESOURCE_TYPE_URL);

/** What several parts give, as one. */
export class Union {
  readonly #parts = new Map<string, Part>();
  readonly #limits = new Limits();
  readonly #kinds: ReadonlyMap<string, KindUnion>;
  #served: ReadonlyMap<string, Collection> | undefined;
  #collections: ReadonlyMap<string, Collection>;
  #lastOrder = 0;

  constructor({ merge, served, bounds = MERGE_BOUNDS }: UnionOptions) {
    this.#kinds = new Map(
      KINDS.map(({ kind }) => [
        kind,
        new KindUnion(
          kind === WITH_HOSTS ? { hosts: { merge, limits: this.#limits, bounds } } : {},
        ),
      ]),
    );
    this.#served = served;
    this.#collections = this.#collect();
  }

  /**
   * By Kubernetes kind, every one of them. A collection stays the same object while nothing in it changes,
   * and the map while no collection does; a kind of which one part alone has any is that part's own object.
   */
  get collections(): ReadonlyMap<string, Collection> {
    return this.#collections;
  }

  /**
   * Makes these a part's collections; a kind that is missing has nothing. The part named "" is our own
   * configuration; others go in the order in which they came. Undefined: the part is gone, and with it
   * its place. Throws TypeError for a kind that is unknown.
   */
  set(part: string, collections: ReadonlyMap<string, Collection> | undefined): void {
    for (const kind of collections?.keys() ?? []) {
      if (!this.#kinds.has(kind)) throw new TypeError(`there is no kind ${kind}`);
    }
    const known = this.#parts.get(part);
    if (known !== undefined) this.settle();
    else if (collections === undefined) return;
    const place = known ?? { name: part, order: part === OWN_PART ? 0 : ++this.#lastOrder };
    if (collections === undefined) this.#parts.delete(part);
    else this.#parts.set(part, place);
    for (const [kind, union] of this.#kinds) {
      union.set(place, collections?.get(kind) ?? NOTHING, this.#served?.get(kind));
    }
    this.#renew();
  }

  /** Every part that there was before the restart has been set: what was served then decides no more. */
  settle(): void {
    this.#served = undefined;
  }

  /**
   * Patterns of the namespaces that a part may fill, from now on; empty: all, as for a part of which nothing
   * was said. It may be said before the part is there, and holds until something else is said, even when
   * the part goes. Throws TypeError where our own configuration (the part "") would be limited.
   */
  allow(part: string, namespaces: readonly string[]): void {
    if (!this.#limits.set(part, namespaces)) return;
    const known = this.#parts.get(part);
    if (known === undefined) return;
    for (const union of this.#kinds.values()) union.relimit(known);
    this.#renew();
  }

  /** What becomes of equal hosts in entries of different names and parts, from now on. */
  setMerge(merge: MergeMode): void {
    for (const union of this.#kinds.values()) union.setMerge(merge);
    this.#renew();
  }

  /** Names and hosts that several parts claim, the longest known first; 50 of each, then how many more there are. */
  findings(): readonly Finding[] {
    const names = [...this.#kinds].flatMap(([kind, union]) =>
      union.nameContests(SHOWN).map((contest) => nameFinding(kind, contest))
    ).slice(0, SHOWN);
    const hosts = [...this.#kinds.values()].flatMap((union) =>
      union.refusals(SHOWN).map(hostFinding)
    );
    return [
      ...names,
      ...this.#more(CONTESTED_NAME_RULE, (union) => union.contestedNames),
      ...hosts,
      ...this.#more(CONTESTED_HOST_RULE, (union) => union.contestedHosts),
    ];
  }

  /** The part whose resource is served under this name; undefined where none is. Of a merged entry it is the first. */
  owner(kind: string, name: string): string | undefined {
    return this.#kinds.get(kind)?.owner(name)?.name;
  }

  /** Names of a kind that several parts offer. */
  contested(kind: string): Iterable<string> {
    return this.#kinds.get(kind)?.contested() ?? [];
  }

  #more(rule: string, countOf: (union: KindUnion) => number): readonly Finding[] {
    const count = [...this.#kinds.values()].reduce((sum, union) => sum + countOf(union), 0);
    return count > SHOWN ? [moreFindings(rule, count - SHOWN)] : [];
  }

  #renew(): void {
    const isSame = [...this.#kinds].every(([kind, { collection }]) =>
      collection === this.#collections.get(kind)
    );
    if (!isSame) this.#collections = this.#collect();
  }

  #collect(): ReadonlyMap<string, Collection> {
    return new Map(Array.from(this.#kinds, ([kind, { collection }]) => [kind, collection]));
  }
}
