/**
 * When a source is asked for what: one collection after the other where it may end the stream at one,
 * and those at which it did again after a while.
 *
 * @module
 */
import type { McpSinkMachine } from "../protocol/mcp_sink.ts";
import type { SinkWatchStatus } from "../protocol/sink_watch.ts";
import type { Clock } from "../rollout/clock.ts";
import { readResourcesHead } from "../wire/resources_head.ts";
import type { StreamEnd } from "./source_memory.ts";

/** What {@link Asking} works with. */
export interface AskingOptions {
  readonly machine: McpSinkMachine;
  /** Whether one collection is asked for at a time. */
  readonly cautious: boolean;
  /** Collections not to ask for before these times. Milliseconds of the clock. */
  readonly skip: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** The machine may have something to send. */
  readonly wake: () => void;
}

/** How long the answer about one collection is waited for before the next is asked for. Milliseconds. */
const PATIENCE = 10_000;

/** A stream that the source ends so soon after it was asked for a collection may have ended at that. Milliseconds. */
const AT_ONCE = 30_000;

/** Asks on one stream. */
export class Asking {
  readonly #options: AskingOptions;
  #askedAt = -Infinity;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Asks until the stream is over, or nothing is left to ask for. */
  async run(): Promise<void> {
    await this.#goOn();
    await this.#askAgain(); // not earlier: a stream that ends must have ended at one of them
  }

  /** A request for a collection was made. */
  asked(): void {
    this.#askedAt = this.#options.clock.now();
  }

  /** A message has come, and may wait until it is taken: the answer that it may be is no longer awaited. */
  heard(bytes: Uint8Array): void {
    const awaited = this.#options.machine.unanswered();
    if (awaited !== undefined && typeOf(bytes) === awaited) this.#askedAt = -Infinity;
  }

  /** How the stream ended, where the source ended it. */
  howEnded(): StreamEnd {
    const { machine, clock } = this.#options;
    const abrupt = machine.status().some((one) => one.requested && one.lastPushAt === undefined);
    const late = clock.now() - this.#askedAt > AT_ONCE;
    const unanswered = late ? undefined : machine.unanswered();
    return { abrupt, ...(unanswered === undefined ? {} : { unanswered }) };
  }

  /** What is, or is to be, asked for, and what is not. */
  status(): readonly SinkWatchStatus[] {
    const { machine, skip } = this.#options;
    const asked = machine.status();
    const names = new Set(asked.map(({ collection }) => collection));
    const skipped = [...skip].filter(([collection]) => !names.has(collection));
    return [...asked, ...skipped.map(([collection, until]) => notAsked(collection, until))];
  }

  /** A source that is silent about one collection may serve the next. */
  async #goOn(): Promise<void> {
    const { machine, clock, cautious, signal, wake } = this.#options;
    if (!cautious) return;
    while (machine.asking && !signal.aborted) {
      const before = machine.unanswered();
      await clock.sleep(PATIENCE, signal);
      if (signal.aborted || before === undefined) continue;
      if (machine.unanswered() !== before) continue;
      machine.goOn();
      wake();
    }
  }

  /** It may have learned what it did not serve, or what was learned of it may be wrong. */
  async #askAgain(): Promise<void> {
    const { machine, clock, skip, signal, wake } = this.#options;
    const dueFirst = [...skip].sort(([, one], [, other]) => one - other);
    for (const [collection, until] of dueFirst) {
      // The others first: they are to be answered before the stream may end at this one.
      await clock.sleep(Math.max(PATIENCE, until - clock.now()), signal);
      if (signal.aborted) return;
      machine.askAgain(collection);
      wake();
    }
  }
}

function typeOf(bytes: Uint8Array): string | undefined {
  try {
    return readResourcesHead(bytes).type;
  } catch {
    return undefined; // whoever takes it says what is wrong with it
  }
}

function notAsked(collection: string, askedAgainAt: number): SinkWatchStatus {
  return { collection, requested: false, unanswered: 0, acks: 0, nacks: 0, askedAgainAt };
}
