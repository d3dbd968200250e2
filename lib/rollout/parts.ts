/**
 * What other sources contribute to what is published, besides our own configuration: each guarded on
 * its own, so that a source that goes wrong holds up nobody else.
 *
 * @module
 */
import type { Collection } from "../snapshot/collection.ts";
import { collectionsId } from "../snapshot/snapshot.ts";
import { guardCollections, type Verdict } from "./guard.ts";
import type { HeldCandidate } from "./publishing.ts";

/** Collections by Kubernetes kind. */
export type Collections = ReadonlyMap<string, Collection>;

/** Name of the part that is our own configuration. */
export const OWN_PART = "";

/** Makes one set of collections of what several parts give. */
export interface Uniter {
  /** Makes these a part's collections; undefined: the part is gone. {@link OWN_PART} is our own. */
  set(part: string, collections: Collections | undefined): void;
  /** Everything together, by kind; the same objects as long as nothing changes. */
  readonly collections: Collections;
  /** Which source gives each resource that is not our own, by kind: the `version` of an entry. */
  readonly origins?: Collections;
}

/** Of one source: what is in effect, and what waits for a person. */
interface Part {
  readonly accepted: Collections;
  readonly held?: HeldCandidate & { readonly collections: Collections };
}

/** What became of an offer: `same` is news to nobody. */
export type Offered = "accepted" | "held" | "same";

/** Told what is held and let go. Must not throw. */
export interface PartHooks {
  held(candidate: HeldCandidate): void;
  released(candidate: HeldCandidate, why: "confirmed" | "replaced"): void;
}

const NONE: Collections = new Map();

/** The parts of other sources. */
export class Parts {
  readonly #hooks: PartHooks;
  readonly #parts = new Map<string, Part>();

  constructor(hooks: PartHooks) {
    this.#hooks = hooks;
  }

  /** What waits for a person, in the order of sources. */
  get held(): readonly HeldCandidate[] {
    return [...this.#parts.values()].flatMap(({ held }) => held === undefined ? [] : [held]);
  }

  /** Takes what a source gives, or holds it where it would remove `limit` (0 to 1) of the source's resources or more. */
  offer(
    name: string,
    collections: Collections | undefined,
    { limit, since }: { readonly limit: number; readonly since: number },
  ): Offered {
    const part = this.#parts.get(name);
    const before = part?.accepted ?? NONE;
    const after = collections ?? NONE;
    const id = collectionsId(name, after);
    if (part?.held?.id === id) return "held";
    this.#release(name, "replaced");
    const isKnown = (part !== undefined) === (collections !== undefined);
    if (isKnown && collectionsId(name, before) === id) return "same";
    const verdict = guardCollections(before, after, limit);
    if (verdict.pass) {
      this.#accept(name, collections);
      return "accepted";
    }
    const message = heldMessage(name, id, verdict, collections === undefined);
    const held = { id, part: name, verdict, since, message, collections: after };
    this.#parts.set(name, { accepted: before, held });
    this.#hooks.held(held);
    return "held";
  }

  /** Lets what is held under this id pass; gives the source, and what it has from now on. */
  confirm(
    id: string,
  ): { readonly name: string; readonly collections: Collections | undefined } | undefined {
    for (const [name, { held }] of this.#parts) {
      if (held?.id !== id) continue;
      const collections = held.collections === NONE ? undefined : held.collections;
      this.#release(name, "confirmed");
      this.#accept(name, collections);
      return { name, collections };
    }
    return undefined;
  }

  #accept(name: string, collections: Collections | undefined): void {
    if (collections === undefined) this.#parts.delete(name);
    else this.#parts.set(name, { accepted: collections });
  }

  #release(name: string, why: "confirmed" | "replaced"): void {
    const part = this.#parts.get(name);
    if (part?.held === undefined) return;
    this.#parts.set(name, { accepted: part.accepted });
    this.#hooks.released(part.held, why);
  }
}

function heldMessage(name: string, id: string, verdict: Verdict, gone: boolean): string {
  const what = gone ? `${name} is no longer configured, which` : `the source ${name}`;
  return `${what} would remove ${verdict.removed} of its ${verdict.of} resources, more than ` +
    `push.guard (${verdict.limit}) lets pass; if that is meant, run: pinnace snapshots confirm ${id}`;
}

/** Without other sources, everything is our own. */
export function ownOnly(): Uniter {
  let own: Collections = NONE;
  return {
    set(part, collections) {
      if (part !== OWN_PART) throw new TypeError(`nothing unites ${part} with our own resources`);
      own = collections ?? NONE;
    },
    get collections() {
      return own;
    },
  };
}
