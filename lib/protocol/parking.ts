/**
 * What one peer accepted and refused of one type, and what it is therefore offered next.
 *
 * What differs between the last collection it accepted and the one it refused is *parked*: it is held
 * back at its last accepted form while other resources go on. As soon as any parked resource changes
 * or goes, the whole newest collection is tried again. No content that was refused is offered twice.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Collection, Diff } from "../snapshot/collection.ts";

/** Refused versions that are remembered; of a peer that refuses more, the oldest are forgotten. */
const REMEMBERED = 256;

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
  /** Versions of refused collections, oldest first. */
  readonly #refused = new Set<string>();

  /** What the peer accepted last; undefined: nothing, and what it holds is not known. */
  get accepted(): Collection | undefined {
    return this.#accepted;
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

  /** What to offer in order to come nearest to `target`; undefined where all of it was refused before. */
  propose(target: Collection): Proposal | undefined {
    const proposal = this.#nearest(target);
    if (!this.#refused.has(proposal.collection.version)) return proposal;
    this.#parked = target;
    const accepted = this.#accepted;
    if (accepted === undefined || this.#refused.has(accepted.version)) return undefined;
    return { ...proposal, collection: accepted };
  }

  /** The peer accepted what it was offered. */
  accept({ target, collection }: Proposal): void {
    this.#accepted = collection;
    this.#parked = collection === target ? undefined : target;
  }

  /** The peer refused what it was offered under this version. */
  refuse({ target }: Proposal, version: string): void {
    this.#parked = target;
    this.#refused.delete(version);
    this.#refused.add(version);
    for (const oldest of this.#refused) {
      if (this.#refused.size <= REMEMBERED) break;
      this.#refused.delete(oldest);
    }
  }

  /** Forgets what the peer no longer asks for. */
  restrict(restrict: (collection: Collection) => Collection): void {
    if (this.#accepted !== undefined) this.#accepted = restrict(this.#accepted);
    if (this.#parked !== undefined) this.#parked = restrict(this.#parked);
  }

  #nearest(target: Collection): Proposal {
    // Where nothing was accepted there is no form to hold back at: any other content is tried whole.
    if (this.#parked === undefined || this.#accepted === undefined) {
      return { target, collection: target };
    }
    const retried = this.#parked.diff(this.#accepted);
    if (!touches(retried, target)) {
      return { target, collection: holdBack(retried, target, this.#accepted) };
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

/** `target` with the parked resources as they were accepted last. */
function holdBack(parked: Diff, target: Collection, accepted: Collection): Collection {
  const back: Resource[] = [];
  const out: string[] = [];
  for (const name of [...parked.changed.map((r) => r.name), ...parked.removed]) {
    const resource = accepted.get(name);
    if (resource === undefined) out.push(name);
    else back.push(resource);
  }
  return target.patch(back, out);
}
