/**
 * Answers to the pushes of one stream, each when it is due.
 *
 * @module
 */
import type { McpSinkMachine } from "../protocol/mcp_sink.ts";
import type { PushHead } from "../receive/received.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Status } from "../wire/messages.ts";
import { DIAL_BACKOFF } from "./backoff.ts";
import { Pace } from "./pace.ts";

/** What {@link PushAnswers} works with. */
export interface PushAnswersOptions {
  readonly machine: McpSinkMachine;
  readonly clock: Clock;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** The machine may have something to send. */
  readonly wake: () => void;
  /** An answer that was due could not be given. */
  readonly failed: (error: unknown) => void;
}

/** Answers on one stream. */
export class PushAnswers {
  readonly #options: PushAnswersOptions;
  readonly #refusals = new Map<string, Pace>();

  constructor(options: PushAnswersOptions) {
    this.#options = options;
  }

  /** Acknowledges a push. */
  ack(head: PushHead): void {
    this.#refusals.get(head.type)?.reset();
    this.#settle(head);
  }

  /** Refuses a push. A source that sends at once what was refused is answered ever later. */
  nack(head: PushHead, status: Status): void {
    let pace = this.#refusals.get(head.type);
    if (pace === undefined) this.#refusals.set(head.type, pace = new Pace(DIAL_BACKOFF));
    this.later(pace.delay(this.#options.clock.now()), () => this.#settle(head, status));
  }

  /** Does something after so many milliseconds, if the stream still lives then. */
  later(wait: number, act: () => void): void {
    if (wait === 0) return act();
    const { clock, signal, failed } = this.#options;
    clock.sleep(wait, signal).then(() => {
      if (!signal.aborted) act();
    }).catch(failed);
  }

  #settle({ type, nonce }: PushHead, error?: Status): void {
    this.#options.machine.settle(type, nonce, error);
    this.#options.wake();
  }
}
