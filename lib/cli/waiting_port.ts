/**
 * A port whose files cannot be used yet: it is opened as soon as they can, and keeps nothing else from
 * being served meanwhile.
 *
 * @module
 */
import type { Settings } from "../model/settings.ts";
import { systemClock } from "../rollout/clock.ts";
import { ListenError } from "../transport/listener.ts";

/** A port cannot be opened as its files are now; others can. */
export class NotYetError extends ListenError {}

/**
 * Throws a ListenError where nothing can be done for anybody: every port waits, and nobody is dialled.
 * `listen` and `receive`: the ports of these settings.
 */
export function refuseIdle(
  { listen, receive }: { readonly listen: readonly Waits[]; readonly receive: readonly Waits[] },
  { sinks, pull }: Pick<Settings, "sinks" | "pull">,
): void {
  const [first, ...others] = [...listen, ...receive];
  if (first?.waits === undefined || others.some(({ waits }) => waits === undefined)) return;
  if (sinks.length + pull.length > 0) return;
  const setting = listen.length > 0 ? "listen" : "receive";
  throw new ListenError(`${first.waits}; \`${setting}\` in the configuration changes it`);
}

/** Why a port is not open; absent: it is. */
interface Waits {
  readonly waits?: string;
}

/** Where those of these ports are that are open. */
export function openOnes(
  ports: readonly (Waits & { readonly address: string })[],
): readonly string[] {
  return ports.filter(({ waits }) => waits === undefined).map(({ address }) => address);
}

/** How a port waits. */
export interface WaitingOptions<T> {
  /** Why it is not open. */
  readonly error: Error;
  /** Opens it. Rejects with the reason why it cannot be yet. */
  readonly open: () => Promise<T>;
  /** Told of each other reason, and once (undefined) when it is open. Must not throw. */
  readonly onChange: (reason: string | undefined) => void;
  /** How often it is tried. Milliseconds; default 2 s. */
  readonly every?: number;
}

/** How often files are looked at. Milliseconds. */
const EVERY = 2000;

/** Waits until the port can be opened. Disposing it ends the waiting, or closes what was opened. */
export class WaitingPort<T extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: WaitingOptions<T>;
  readonly #closing = new AbortController();
  readonly #waiting: Promise<void>;
  #reason: string;
  #opened: T | undefined;

  constructor(options: WaitingOptions<T>) {
    this.#options = options;
    this.#reason = options.error.message;
    this.#waiting = this.#wait();
  }

  /** What was opened; undefined as long as it waits. */
  get opened(): T | undefined {
    return this.#opened;
  }

  /** Why it was not open at the last attempt. */
  get reason(): string {
    return this.#reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#waiting;
    await this.#opened?.[Symbol.asyncDispose]();
  }

  async #wait(): Promise<void> {
    const { every = EVERY, onChange } = this.#options;
    const { signal } = this.#closing;
    while (this.#opened === undefined) {
      await systemClock.sleep(every, signal);
      if (signal.aborted) return;
      const reason = await this.#try();
      if (reason === this.#reason) continue;
      if (reason !== undefined) this.#reason = reason;
      onChange(reason);
    }
  }

  async #try(): Promise<string | undefined> {
    try {
      this.#opened = await this.#options.open();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
