/**
 * Everything towards those who get resources from us: their sessions, what each kind of client is to
 * see, and the doors that they come in by.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Hub } from "../snapshot/hub.ts";
import { ClientWatch } from "../transport/client_watch.ts";
import type { Sender } from "../transport/sender.ts";
import type { ServingState } from "../transport/serving_state.ts";
import type { SessionObserver } from "../transport/session.ts";
import { Sessions } from "../transport/sessions.ts";
import { Doors } from "./doors.ts";
import type { ListenersOptions, OpenPort } from "./listeners.ts";
import { observers } from "./observers.ts";
import { Viewing } from "./viewing.ts";

/** What the front is made with. */
export interface FrontOptions extends Omit<ListenersOptions, "server"> {
  readonly log: Log;
  readonly hub: Hub;
  readonly sender: Sender;
  readonly observer: SessionObserver;
  /** What MCP collections stand for now. */
  readonly collections: () => Resolver;
  /** What health checks are answered with. */
  readonly state: ServingState;
}

/** Serves what is published. Made once, opened when there is something to serve. */
export class Front implements AsyncDisposable {
  readonly sessions: Sessions;
  readonly #viewing: Viewing;
  readonly #doors: Doors;

  constructor(options: FrontOptions) {
    const { log, hub, sender, observer } = options;
    this.#viewing = new Viewing({ log, onChange: () => this.sessions.refresh() });
    const watch = new ClientWatch(systemClock);
    this.sessions = new Sessions({
      targets: hub,
      sender,
      observer: observers(watch, observer),
      clock: systemClock,
      views: this.#viewing.views,
    });
    this.#doors = new Doors({ ...options, sessions: this.sessions, watch });
  }

  /** The ports that are open, and those that wait for their TLS files. */
  get ports(): readonly OpenPort[] {
    return this.#doors.ports;
  }

  /** Connections of those who dialled. */
  get connections(): number {
    return this.#doors.connections;
  }

  /** What is to be said of what clients get. */
  findings(): readonly Finding[] {
    return this.#viewing.findings();
  }

  /** Listens on what the settings say, and nowhere else. Rejects with a ListenError that names the setting to change. */
  open(settings: Settings): Promise<void> {
    return this.#doors.open(settings);
  }

  /** Lets nobody in any more and ends all streams, within `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    await Promise.all([this.#doors.drain(ms), this.#viewing[Symbol.asyncDispose]()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0);
    this.sessions[Symbol.dispose]();
  }
}
