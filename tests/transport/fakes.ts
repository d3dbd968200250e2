/**
 * Stand-ins for what sessions and links work with: a stream in memory and a clock that a test moves.
 *
 * @module
 */
import type { Clock } from "../../lib/rollout/clock.ts";
import type { EndStatus, Peer, PushStream } from "../../lib/transport/push_stream.ts";
import { flatten, type Message } from "../../lib/wire/compose.ts";

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper = { until: this.#now + ms, wake: () => {} };
      sleeper.wake = () => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener("abort", sleeper.wake);
        resolve();
      };
      signal.addEventListener("abort", sleeper.wake);
      this.#sleepers.add(sleeper);
    });
  }

  /** Moves time on, waking sleepers in order, and lets everything that follows from it happen. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    while (true) {
      const next = [...this.#sleepers].sort((a, b) => a.until - b.until)[0];
      if (next === undefined || next.until > end) break;
      this.#now = next.until;
      next.wake();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets pending promises and immediates run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** A stream whose other end is the test. */
export class FakeStream implements PushStream {
  readonly path: string = "/test.Service/Stream";
  readonly peer: Peer;
  readonly metadata = {};
  readonly progress = { taken: 0, at: 0 };
  readonly written: Uint8Array[] = [];
  ended: EndStatus | undefined;
  failure: string | undefined;
  readonly #over = new AbortController();
  #callback: ((bytes: Uint8Array) => void) | undefined;

  constructor(peer: Partial<Peer> = {}) {
    this.peer = { address: "192.0.2.1", port: 4321, ...peer };
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  onRequest(callback: (bytes: Uint8Array) => void): void {
    this.#callback = callback;
  }

  write(message: Message): Promise<void> {
    this.written.push(flatten(message));
    return Promise.resolve();
  }

  end(status?: EndStatus): void {
    this.ended = status;
    this.#over.abort();
  }

  cut(reason: string): void {
    this.failure = reason;
    this.#over.abort();
  }

  /** The other end sends a message. */
  request(bytes: Uint8Array): void {
    this.#callback?.(bytes);
  }

  /** The other end is gone. */
  leave(): void {
    this.#over.abort();
  }
}
