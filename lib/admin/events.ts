/**
 * The history of what was published: which files and sources caused it, what it changed, and how peers
 * answered. Nothing of it is kept over a restart.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { Publication } from "../snapshot/hub.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { ChangeEvent } from "./event_schema.ts";

export { type ChangeEvent, eventSchema, eventsSchema } from "./event_schema.ts";

/** Events that are remembered unless another number is said. */
export const EVENTS_KEPT = 200;

/** Names listed of what was added, changed or removed, each. */
const NAMES = 50;

/** Longest name that is shown whole. UTF-16 code units. */
const LONGEST = 512;

/** How a log of events is made. */
export interface EventLogOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Events remembered; beyond them the oldest is forgotten. Default: {@link EVENTS_KEPT}. */
  readonly limit?: number;
}

/** Which events are wanted. */
export interface EventQuery {
  /** Only those with a greater `seq`. Default: 0, all. */
  readonly after?: number;
  /** So many of the newest. Default: all. */
  readonly limit?: number;
}

/** What became of a push. */
export type Answer = "ack" | "nack" | "lost";

const COUNTS = { ack: "acks", nack: "nacks", lost: "lost" } as const;

interface Names {
  count: number;
  readonly names: string[];
}

/** What came, became another and went. */
interface Difference {
  readonly added: Names;
  readonly changed: Names;
  readonly removed: Names;
}

interface Entry {
  readonly event: Omit<ChangeEvent, "answers">;
  readonly changedAt: number;
  /** Kinds of which resources changed. */
  readonly kinds: ReadonlySet<string>;
  readonly answers: { acks: number; nacks: number; lost: number; pending: number };
  slowest: number | undefined;
}

/** Remembers the newest publications and counts how they are answered. */
export class EventLog {
  readonly #now: () => number;
  readonly #limit: number;
  /** Oldest first; their numbers follow one another. */
  readonly #entries: Entry[] = [];
  #newest = 0;
  #published: Snapshot | undefined;

  constructor({ now, limit = EVENTS_KEPT }: EventLogOptions) {
    this.#now = now;
    this.#limit = limit;
  }

  /** Number of the newest event; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /**
   * Takes what was just published; gives the event. To be told before any peer is sent to, else the
   * first answers count for the event before.
   */
  published({ snapshot, changedAt, causes = [] }: Publication): ChangeEvent {
    const [services, resources] = [nothing(), nothing()];
    const before = this.#published;
    this.#published = snapshot;
    compare(services, before?.services, snapshot.services, "");
    const kinds = new Set<string>();
    for (const [kind, collection] of snapshot.collections) {
      const old = before?.collections.get(kind);
      if (compare(resources, old, collection, `${kind}/`)) kinds.add(kind);
    }
    const event = {
      seq: ++this.#newest,
      id: snapshot.id,
      at: iso(this.#now()),
      changedAt: iso(changedAt),
      causes: causes.map(presentable),
      services,
      resources,
    };
    const answers = { acks: 0, nacks: 0, lost: 0, pending: 0 };
    const entry: Entry = { event, changedAt, kinds, answers, slowest: undefined };
    this.#entries.push(entry);
    if (this.#entries.length > this.#limit) this.#entries.shift();
    return shown(entry);
  }

  /**
   * Numbers of the events after `seq` that are remembered and changed resources of this kind
   * (undefined: of any): what a push carries whose peer was last sent to at `seq`.
   */
  since(seq: number, kind?: string): readonly number[] {
    const first = this.#newest - this.#entries.length + 1;
    return this.#entries.slice(Math.max(0, seq + 1 - first))
      .filter(({ kinds }) => kind === undefined || kinds.has(kind))
      .map(({ event }) => event.seq);
  }

  /** A push that carries these events is on its way. */
  sent(seqs: readonly number[]): void {
    for (const entry of this.#of(seqs)) entry.answers.pending++;
  }

  /** A push that carries these events, {@link EventLog.sent} before, was answered or lost. */
  answered(seqs: readonly number[], answer: Answer): void {
    const now = this.#now();
    for (const entry of this.#of(seqs)) {
      const { answers, changedAt } = entry;
      answers.pending--;
      answers[COUNTS[answer]]++;
      if (answer === "lost") continue;
      entry.slowest = Math.max(entry.slowest ?? 0, now - changedAt);
    }
  }

  /** Events, newest first. */
  list({ after = 0, limit = this.#limit }: EventQuery = {}): readonly ChangeEvent[] {
    const wanted = this.#entries.filter(({ event }) => event.seq > after);
    return wanted.slice(Math.max(0, wanted.length - limit)).reverse().map(shown);
  }

  /** Those still remembered. */
  #of(seqs: readonly number[]): Entry[] {
    const first = this.#newest - this.#entries.length + 1;
    return seqs.flatMap((seq) => this.#entries[seq - first] ?? []);
  }
}

/** Adds what makes `after` out of `before`; whether that is anything. */
function compare(
  sum: Difference,
  before: Collection | undefined,
  after: Collection,
  prefix: string,
): boolean {
  if (before === undefined || before.size === 0) {
    for (const { name } of after) note(sum.added, prefix, name);
    return after.size > 0;
  }
  const { changed, removed } = after.diff(before);
  for (const { name } of changed) {
    note(before.get(name) === undefined ? sum.added : sum.changed, prefix, name);
  }
  for (const name of removed) note(sum.removed, prefix, name);
  return changed.length + removed.length > 0;
}

function nothing(): Difference {
  const none = (): Names => ({ count: 0, names: [] });
  return { added: none(), changed: none(), removed: none() };
}

function note(list: Names, prefix: string, name: string): void {
  if (list.count++ < NAMES) list.names.push(prefix + cut(name));
}

function shown({ event, answers, slowest }: Entry): ChangeEvent {
  const slowestMs = slowest === undefined ? {} : { slowestMs: slowest };
  return { ...event, answers: { ...answers, ...slowestMs } };
}

/** Names of sources are theirs to choose. */
function presentable(cause: Cause): Cause {
  return cause.kind === "source" || cause.kind === "file"
    ? { ...cause, name: cut(cause.name) }
    : cause;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
