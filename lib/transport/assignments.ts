/**
 * What each peer is to get of the newest publication: its rule says which view, and rules may change
 * with any publication.
 *
 * @module
 */
import type { ClientKind, PeerRule } from "../model/settings.ts";
import type { Publication } from "../snapshot/hub.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { clientKind, type PeerFacts, ruleFor } from "../view/peer_rules.ts";
import type { ClientViews, ViewKind } from "../view/client_views.ts";
import { type Select, Views } from "../view/select.ts";

/** What is settled for one peer. */
export interface Assignment {
  /** Which of the rules of `peers` matched, counted from 1; absent: none. */
  readonly rule?: number;
  readonly kind: ClientKind;
  /** In which wave its rule puts it; absent: no rule does. */
  readonly wave?: number;
  readonly select: Select;
}

const EVERYTHING: Select = { namespaces: [], labels: {} };

/** What holds for a peer of which nothing is known yet. */
export const UNASSIGNED: Assignment = { kind: "istio", select: EVERYTHING };

/** What peers of one select get of the newest publication, by the kind of client. */
type ByKind = Map<ClientKind, Snapshot>;

/** Knows the newest publication and its rules, and makes each view once for all peers that share it. */
export class Assignments {
  readonly #views = new Views();
  readonly #clientViews: ClientViews | undefined;
  readonly #current = new Map<Select, ByKind>();
  /** Client views that were asked for since the newest publication. */
  readonly #asked = new Map<Select, Set<ViewKind>>();
  #publication: Publication | undefined;
  #rules: readonly PeerRule[] = [];

  /** Without client views every peer gets Istio's kinds alone. */
  constructor(clientViews?: ClientViews) {
    this.#clientViews = clientViews;
  }

  /** What is published, if anything was. */
  get publication(): Publication | undefined {
    return this.#publication;
  }

  /** The rules in force: the same object as long as they say the same. */
  get rules(): readonly PeerRule[] {
    return this.#rules;
  }

  /** Takes a new publication. */
  take(publication: Publication): void {
    this.#publication = publication;
    // Every peer there is asks at every publication: what none asked for at the last one is not needed.
    this.#views.retain(this.#current.keys());
    this.#clientViews?.retain(this.#used());
    this.#asked.clear();
    this.#current.clear();
    const { peers } = publication.snapshot.settings;
    if (!sameRules(peers, this.#rules)) this.#rules = peers;
  }

  /** What the rules in force say of a peer. */
  assign(peer: PeerFacts): Assignment {
    const rule = ruleFor(this.#rules, peer);
    const kind = clientKind(rule, peer);
    if (rule === undefined) return { kind, select: EVERYTHING };
    const wave = rule.wave === undefined ? {} : { wave: rule.wave };
    return { rule: this.#rules.indexOf(rule) + 1, kind, ...wave, select: rule };
  }

  /**
   * What a peer of this assignment is to get of the newest publication; undefined before the first, and
   * as long as the view that it needs is being made for the first time.
   */
  snapshotOf({ select, kind }: Assignment): Snapshot | undefined {
    if (this.#publication === undefined) return undefined;
    let views = this.#current.get(select);
    if (views === undefined) this.#current.set(select, views = new Map());
    const known = views.get(kind);
    if (known !== undefined) return known;
    const selected = this.#views.of(select, this.#publication.snapshot);
    if (kind === "istio" || this.#clientViews === undefined) {
      views.set(kind, selected);
      return selected;
    }
    this.#asked.set(select, (this.#asked.get(select) ?? new Set()).add(kind));
    const { view, current } = this.#clientViews.of(kind, select, selected);
    if (current) views.set(kind, view!);
    return view;
  }

  /** Client views are to be made again of the same publication: addresses of names changed. */
  refresh(): void {
    for (const views of this.#current.values()) {
      for (const kind of views.keys()) if (kind !== "istio") views.delete(kind);
    }
  }

  *#used(): Iterable<readonly [ViewKind, Select]> {
    for (const [select, kinds] of this.#asked) for (const kind of kinds) yield [kind, select];
  }
}

function sameRules(a: readonly PeerRule[], b: readonly PeerRule[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
