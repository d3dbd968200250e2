/**
 * What each xDS client was sent, accepted and refused last, of every type: what a session itself does
 * not keep and the status of clients tells.
 *
 * @module
 */
import type { Event, Push } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { SessionInfo, SessionObserver } from "./session_info.ts";

/** Content that a client was sent, and when. Milliseconds since the epoch. */
export interface SentContent {
  readonly version: string;
  readonly collection: Collection;
  readonly at: number;
}

/** Content that a client refused. */
export interface RefusedContent {
  readonly version: string;
  /** What the client said. */
  readonly message: string;
  /** Names of what was new in it; at most 20. */
  readonly names: readonly string[];
  readonly at: number;
}

/** How one type fares at one client. */
export interface WatchedType {
  /** What it holds. Read names and versions only: bytes may be missing. */
  readonly accepted?: SentContent;
  /** What it has not answered yet. */
  readonly pending?: SentContent;
  /** The newest that it refused. */
  readonly refused?: RefusedContent;
  /** How it answered last. */
  readonly answered?: "ack" | "nack";
}

/** Watches the xDS clients among all sessions; to be among the observers of sessions. */
export class ClientWatch implements SessionObserver {
  readonly #clock: Pick<Clock, "now">;
  readonly #sessions = new Map<number, Map<string, WatchedType>>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** How this type fares on the session of this key; undefined: nothing was sent. */
  of(key: number, type: string): WatchedType | undefined {
    return this.#sessions.get(key)?.get(type);
  }

  opened({ key, protocol }: SessionInfo): void {
    if (isXds(protocol)) this.#sessions.set(key, new Map());
  }

  sent({ key }: SessionInfo, { type, version, content }: Push): void {
    const collection = content.kind === "full" ? content.collection : content.diff.to;
    const pending = { version, collection, at: this.#clock.now() };
    this.#change(key, type, (before) => ({ ...before, pending }));
  }

  event({ key }: SessionInfo, event: Event): void {
    const at = this.#clock.now();
    if (event.kind === "ack") {
      const { version, collection } = event;
      this.#change(key, event.type, ({ refused }) => ({
        answered: "ack",
        accepted: { version, collection, at },
        ...(refused === undefined ? {} : { refused }),
      }));
    } else if (event.kind === "nack") {
      const { version, message, names } = event;
      this.#change(key, event.type, ({ accepted }) => ({
        answered: "nack",
        ...(accepted === undefined ? {} : { accepted }),
        refused: { version, message, names, at },
      }));
    }
  }

  cut(): void {}

  paced(): void {}

  overdue(): void {}

  closed({ key }: SessionInfo): void {
    this.#sessions.delete(key);
  }

  #change(key: number, type: string, change: (before: WatchedType) => WatchedType): void {
    const types = this.#sessions.get(key);
    types?.set(type, change(types.get(type) ?? {}));
  }
}

/** Whether a session of this protocol is an xDS client's. */
export function isXds(protocol: SessionInfo["protocol"]): boolean {
  return protocol === "ads" || protocol === "ads-delta";
}
