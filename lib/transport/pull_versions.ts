/**
 * Which of a kind's versions counts on one stream. Some servers have a kind under one type URL only and
 * answer the others with nothing; so an empty answer is not believed before the older versions were
 * asked for, and of several versions with content only the first is taken: they are the same objects.
 * Pure.
 *
 * @module
 */
import type { Judgement } from "../receive/received.ts";
import type { PullKnowledge } from "./pull_knowledge.ts";

type Accepted = Extract<Judgement, { kind: "accepted" }>;

/** What becomes of an accepted response. */
export interface VersionVerdict {
  /** To be kept, in this order; none: it is ACKed and no more. */
  readonly take: readonly Accepted[];
  /** Type URL to ask for as well. */
  readonly ask?: string;
}

/** One kind on one stream. */
interface KindState {
  /** Type URL whose responses are taken; undefined: none had content. */
  counts: string | undefined;
  /** By type URL, empty responses that are not believed yet. */
  readonly doubted: Map<string, Accepted>;
}

/** The versions of every kind on one stream. */
export class PullVersions {
  readonly #knowledge: PullKnowledge;
  readonly #kinds = new Map<string, KindState>();
  #patient = true;

  constructor(knowledge: PullKnowledge) {
    this.#knowledge = knowledge;
  }

  /** Says what becomes of a response. `held`: names that are held of the kind. */
  decide(response: Accepted, held: readonly string[]): VersionVerdict {
    const { head: { type }, kindName } = response;
    if (kindName === undefined) return { take: [] };
    const state = this.#state(kindName);
    if (state.counts !== undefined) return { take: state.counts === type ? [response] : [] };
    if (!empties(response, held)) {
      // A difference builds upon the one before.
      const before = response.head.incremental ? state.doubted.get(type) : undefined;
      this.#count(state, type);
      return { take: before === undefined ? [response] : [before, response] };
    }
    const ask = this.#knowledge.after(type);
    if (ask === undefined || !this.#patient) {
      state.doubted.clear();
      return { take: [response], ...(ask === undefined ? {} : { ask }) };
    }
    state.doubted.set(type, response);
    return { take: [], ask };
  }

  /** A response with content was refused: that is the version that counts, and what was held stays. */
  refused(kindName: string | undefined, type: string): void {
    if (kindName === undefined) return;
    const state = this.#state(kindName);
    if (state.counts === undefined) this.#count(state, type);
  }

  /** The older versions had time enough to answer: gives the empty responses to keep, and from here on they are believed. */
  believe(): Accepted[] {
    this.#patient = false;
    return [...this.#kinds.values()].flatMap(({ doubted }) => {
      const newest = [...doubted.values()].slice(0, 1); // they all say the same
      doubted.clear();
      return newest;
    });
  }

  #state(kindName: string): KindState {
    let state = this.#kinds.get(kindName);
    if (state === undefined) {
      state = { counts: undefined, doubted: new Map() };
      this.#kinds.set(kindName, state);
    }
    return state;
  }

  #count(state: KindState, type: string): void {
    state.counts = type;
    state.doubted.clear();
    this.#knowledge.serves(type);
  }
}

/** Whether nothing is left of the kind once the response is kept. */
function empties({ head, resources, removed }: Accepted, held: readonly string[]): boolean {
  if (resources.length > 0) return false;
  if (!head.incremental) return true;
  const gone = new Set(removed);
  return held.every((name) => gone.has(name));
}
