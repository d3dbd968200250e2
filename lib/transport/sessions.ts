/**
 * Every live session of the process: new publications reach them all, status reads from here.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import type { StreamMachine } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Publication, Subscriber } from "../snapshot/hub.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { PeerFacts } from "../view/peer_rules.ts";
import type { Message } from "../wire/compose.ts";
import type { ClientViews } from "../view/client_views.ts";
import { Assignments } from "./assignments.ts";
import { DubboStarts } from "./dubbo_start.ts";
import type { PushStream } from "./push_stream.ts";
import type { Sender } from "./sender.ts";
import { type Sibling, Siblings } from "./siblings.ts";
import { Session, type SessionCodec, type SessionInfo, type SessionObserver } from "./session.ts";

/** Where the state that peers are to get comes from; a {@link Hub} is one. */
export interface Targets {
  readonly current: Publication | undefined;
  subscribe(subscriber: Subscriber): Disposable;
}

/** What all sessions share. */
export interface SessionsOptions {
  readonly targets: Targets;
  readonly sender: Sender;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  /** What clients get that are no istiod. Absent: Istio's kinds alone are served. */
  readonly views?: ClientViews;
}

/** What one peer is to get. */
export interface PeerView {
  readonly kind: ClientKind;
  /** Absent before the first publication, and as long as its view is being made for the first time. */
  readonly snapshot?: Snapshot;
}

/** A live session, and what may be asked of it. */
interface Live extends Sibling {
  readonly retarget: () => void;
}

/** The live sessions. Disposing it stops new publications from reaching them; it ends no stream. */
export class Sessions implements Disposable {
  readonly #options: SessionsOptions;
  readonly #live = new Map<number, Live>();
  readonly #observer: SessionObserver;
  readonly #assignments: Assignments;
  readonly #starts = new DubboStarts();
  readonly #subscription: Disposable;
  /** Of this run: a nonce of an earlier one, still on its way at a peer, must not equal one of ours. */
  readonly #run: string;
  readonly #listeners = new Set<() => void>();
  #keys = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#run = options.clock.now().toString(36);
    this.#observer = new Siblings(() => this.#live.values()).beside(options.observer);
    this.#assignments = new Assignments(options.views);
    const { current } = options.targets;
    if (current !== undefined) this.#assignments.take(current);
    this.#subscription = options.targets.subscribe((publication) => {
      this.#assignments.take(publication);
      this.#retarget();
    });
  }

  /** Has client views asked for again: one is ready, or addresses of names changed. */
  refresh(): void {
    this.#assignments.refresh();
    this.#retarget();
  }

  /**
   * Makes a stream a session. `machine` gets a prefix that is its own, for its nonces, and what kind of
   * client the peer is, to be asked once it has said something.
   */
  open<Request>(
    stream: PushStream,
    machine: (prefix: string, kind: () => ClientKind) => StreamMachine<Request>,
    codec: SessionCodec<Request>,
    extra: { sink?: string; wave?: number; opening?: Message } = {},
  ): Session<Request> {
    const key = ++this.#keys;
    const { sender, clock } = this.#options;
    let made: StreamMachine<Request> | undefined;
    const parts = {
      key,
      stream,
      machine: (kind: () => ClientKind) => made = machine(`${this.#run}-${key}-`, kind),
      codec,
      sender,
      observer: this.#observer,
      clock,
      assignments: this.#assignments,
      starts: this.#starts,
    };
    const session = new Session<Request>({ ...parts, ...extra });
    if (stream.signal.aborted) return session;
    this.#live.set(key, {
      info: session,
      retarget: () => session.retarget(),
      renew: (type, names) => {
        made?.renew?.(type, names);
        session.retarget(); // which wakes it
      },
    });
    stream.signal.addEventListener("abort", () => this.#live.delete(key), { once: true });
    return session;
  }

  /** What a peer of whom this is known is to get now, where it asks without a stream. */
  view(peer: PeerFacts): PeerView {
    const assignment = this.#assignments.assign(peer);
    const snapshot = this.#assignments.snapshotOf(assignment);
    return { kind: assignment.kind, ...(snapshot === undefined ? {} : { snapshot }) };
  }

  /** Calls `changed`, which must not throw, whenever {@link view} may give something else, until disposed. */
  onChange(changed: () => void): Disposable {
    const listener = () => changed(); // one's own, whoever else gave the same function
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** A prefix for nonces that no session has. */
  prefix(): string {
    return `${this.#run}-${++this.#keys}-`;
  }

  /** Who writes when, for all that is sent. */
  get sender(): Sender {
    return this.#options.sender;
  }

  /** The live sessions, oldest first. */
  list(): SessionInfo[] {
    return [...this.#live.values()].map(({ info }) => info);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #retarget(): void {
    for (const { retarget } of this.#live.values()) retarget();
    for (const changed of [...this.#listeners]) changed();
  }
}
