/**
 * What one peer accepted and refused of one type, and what it is therefore offered next.
 *
 * What differs between the last collection it accepted and the one it refused is *parked*: it is held
 * back at its last accepted form while other resources go on. As soon as any parked resource changes
 * or goes, the whole newest collection is tried again. No content that was refused is offered twice.
 * A refusal that names resources is of those alone: the others are offered without them at once.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Collection, Diff } from "../snapshot/collection.ts";
import { hasUnknown, isUnknown, unknownResource } from "./held.ts";

/** Refused versions that are remembered; of a peer that refuses more, the oldest are forgotten. */
const REMEMBERED = 256;

/** Names remembered of one refusal; of a larger one only its version is. */
const NAMES_REMEMBERED = 100;

/** Resources remembered that were refused by name; if there are more, the oldest are forgotten. */
const BAD_REMEMBERED = 1000;

/** Refusals in a row from which names are taken; a peer that goes on refuses whatever there is. */
const NAMED_IN_A_ROW = 10;

/** What a peer is to be offered. */
export interface Proposal {
  /** The state that the peer ought to have. */
  readonly target: Collection;
  /** What it is offered: `target`, or that with the parked resources at their last accepted form. */
  readonly collection: Collection;
  /** What was parked until now, where the whole is tried again: the peer may have taken part of it. */
  readonly retried?: Diff;
}

/** Accepted, parked and refused content of one subscription. */
export class Parking {
  #accepted: Collection | undefined;
  /** A target of which what differs from `#accepted` is parked. */
  #parked: Collection | undefined;
  /** By version of a refused collection, what was new in it, if that was not too much; oldest first. */
  readonly #refused = new Map<string, readonly string[] | undefined>();
  /** The version of each resource that was refused by name last; oldest first. */
  readonly #bad = new Map<string, string>();
  #named = 0;
  #lastRefused: string | undefined;
  /** Whether what was accepted is what {@link believe} said. */
  #believes = false;
  /** What was refused last, of which the peer may have taken what it did not name. */
  #doubtful: Diff | undefined;

  /** What the peer accepted last; undefined: nothing, and what it holds is not known. */
  get accepted(): Collection | undefined {
    return this.#accepted;
  }

  /** Whether the peer said, by accepting it, that it holds this. */
  get isKnown(): boolean {
    return this.#accepted !== undefined && !this.#believes;
  }

  /** Number of resources held back. */
  get size(): number {
    if (this.#parked === undefined) return 0;
    if (this.#accepted === undefined) return this.#parked.size;
    const { changed, removed } = this.#parked.diff(this.#accepted);
    return changed.length + removed.length;
  }

  /** Notes that the peer holds this collection, by its own word. */
  told(held: Collection): void {
    this.#accepted = held;
  }

  /**
   * What to offer in order to come nearest to `target`; undefined where all of it was refused before.
   * `whole`: it is to be sent in full, so the content of everything in it must be known.
   */
  propose(target: Collection, whole: boolean): Proposal | undefined {
    const proposal = this.#withoutBad(this.#nearest(target, whole), whole);
    if (!this.#refused.has(proposal.collection.version)) return proposal;
    this.#parked = target;
    const accepted = this.#accepted;
    if (accepted === undefined) return undefined;
    // The same content again: what was new in it then is held back now, or else everything is.
    const names = this.#refused.get(proposal.collection.version);
    const nearer = names === undefined ? accepted : revert(proposal.collection, names, accepted);
    const collection = [nearer, accepted].find((candidate) =>
      !this.#refused.has(candidate.version) && !(whole && hasUnknown(candidate))
    );
    if (collection !== undefined) return { ...proposal, collection };
    // It takes what it does not refuse each time, and nothing can be held back that is not known here.
    const isAgain = proposal.collection.version === this.#lastRefused;
    return this.#believes && !isAgain ? proposal : undefined;
  }

  /** The peer accepted what it was offered. */
  accept({ target, collection }: Proposal): void {
    this.#accepted = collection;
    this.#parked = collection === target ? undefined : target;
    this.#doubtful = undefined;
    this.#named = 0;
    this.#believes = false;
  }

  /**
   * The peer refused what it was offered; `sent` is that as it was sent, whatever the peer has stopped
   * asking for since. `named`: which of what changed it refused, as far as it said so.
   */
  refuse({ target }: Proposal, sent: Diff, named: readonly Resource[] = []): void {
    const { to: { version }, changed, removed } = sent;
    this.#lastRefused = version;
    const isNamed = this.isKnown && named.length > 0 && ++this.#named <= NAMED_IN_A_ROW;
    this.#parked = isNamed ? undefined : target;
    this.#doubtful = isNamed && changed.length + removed.length > named.length ? sent : undefined;
    if (isNamed) this.#note(named);
    const names = changed.length + removed.length <= NAMES_REMEMBERED
      ? [...changed.map((resource) => resource.name), ...removed]
      : undefined;
    this.#refused.set(version, names);
    for (const oldest of this.#refused.keys()) {
      if (this.#refused.size <= REMEMBERED) break;
      this.#refused.delete(oldest);
    }
  }

  /**
   * The peer, of which it was not known what it holds, refused these of what it was sent and took the
   * rest; of these it may have an earlier form.
   */
  believe(sent: Collection, refused: readonly Resource[]): void {
    this.#accepted = sent.patch(refused.map(({ name }) => unknownResource(name, "")), []);
    this.#believes = true;
  }

  /** Forgets what the peer no longer asks for. */
  restrict(restrict: (collection: Collection) => Collection): void {
    if (this.#accepted !== undefined) this.#accepted = restrict(this.#accepted);
    if (this.#parked !== undefined) this.#parked = restrict(this.#parked);
  }

  #note(bad: readonly Resource[]): void {
    for (const { name, version } of bad) {
      this.#bad.delete(name);
      this.#bad.set(name, version);
    }
    for (const oldest of this.#bad.keys()) {
      if (this.#bad.size <= BAD_REMEMBERED) break;
      this.#bad.delete(oldest);
    }
  }

  /** The proposal with what was refused by name at its last accepted form, unless only the peer has that. */
  #withoutBad(proposal: Proposal, whole: boolean): Proposal {
    const { collection } = proposal;
    const retried = proposal.retried ?? this.#doubtful;
    const doubtful = retried === undefined ? {} : { retried };
    const names = [...this.#bad].filter(([name, version]) =>
      collection.get(name)?.version === version && this.#accepted?.get(name)?.version !== version
    ).map(([name]) => name);
    if (names.length === 0) return { ...proposal, ...doubtful };
    const without = revertKnown(collection, names, this.#accepted, whole);
    return without === undefined ? proposal : { ...proposal, collection: without, ...doubtful };
  }

  #nearest(target: Collection, whole: boolean): Proposal {
    // Where nothing was accepted there is no form to hold back at: any other content is tried whole.
    if (this.#parked === undefined || this.#accepted === undefined) {
      return { target, collection: target };
    }
    const retried = this.#parked.diff(this.#accepted);
    if (!touches(retried, target)) {
      const collection = holdBack(retried, target, this.#accepted, whole);
      if (collection !== undefined) return { target, collection };
    }
    this.#parked = undefined;
    return { target, collection: target, retried };
  }
}

/** Whether any resource that is parked is another in `target` than when it was refused. */
function touches(parked: Diff, target: Collection): boolean {
  if (target === parked.to) return false;
  return parked.changed.some(({ name, version }) => target.get(name)?.version !== version) ||
    parked.removed.some((name) => target.get(name) !== undefined);
}

/** `target` with the parked resources as they were accepted last; undefined where only the peer has that form. */
function holdBack(
  parked: Diff,
  target: Collection,
  accepted: Collection,
  whole: boolean,
): Collection | undefined {
  const names = [...parked.changed.map((resource) => resource.name), ...parked.removed];
  return revertKnown(target, names, accepted, whole);
}

/** As {@link revert}; undefined where `whole` is to be sent, and of a name only the peer has that form. */
function revertKnown(
  collection: Collection,
  names: readonly string[],
  accepted: Collection | undefined,
  whole: boolean,
): Collection | undefined {
  const unknown = (name: string) => {
    const resource = accepted?.get(name);
    return resource !== undefined && isUnknown(resource);
  };
  return whole && names.some(unknown) ? undefined : revert(collection, names, accepted);
}

/** `collection` with these names as they are in `accepted`. */
function revert(
  collection: Collection,
  names: readonly string[],
  accepted: Collection | undefined,
): Collection {
  const back: Resource[] = [];
  const out: string[] = [];
  for (const name of names) {
    const resource = accepted?.get(name);
    if (resource === undefined) out.push(name);
    else back.push(resource);
  }
  return collection.patch(back, out);
}
