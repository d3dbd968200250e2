/**
 * Everyone whom we dial out to: sinks, as the settings name them.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Settings } from "../model/settings.ts";
import { limitedResolver } from "../protocol/limited_resolver.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Sessions } from "../transport/sessions.ts";
import { SinkDialer, type SinkStatus } from "../transport/sink_dialer.ts";
import type { Dial, LinkObserver } from "../transport/sink_link.ts";
import { sinkTargets } from "./dial_targets.ts";
import { resolveHost } from "./dialling.ts";
import { logUnresolved } from "./peer_log.ts";
import { logUndialable } from "./source_log.ts";

/** What the outlet works with. */
export interface OutletOptions {
  readonly log: Log;
  /** Folder that relative paths start from. Absolute. */
  readonly folder: string;
  readonly sessions: Sessions;
  readonly dial: Dial;
  readonly observer: LinkObserver;
  /** Our name to sinks. */
  readonly instance: () => string;
  /** What MCP collections stand for now. */
  readonly collections: () => Resolver;
}

/** Dials sinks. Disposing it ends all streams. */
export class Outlet implements AsyncDisposable {
  readonly #folder: string;
  readonly #dialer: SinkDialer;
  readonly #undialable: ReturnType<typeof logUndialable>;
  #instance: string | undefined;

  constructor(options: OutletOptions) {
    const { log, folder, sessions, dial, observer, instance } = options;
    this.#folder = folder;
    this.#undialable = logUndialable(log, "sink");
    this.#dialer = new SinkDialer({
      sessions,
      clock: systemClock,
      random: Math.random,
      resolver: ({ collections }) => limitedResolver(options.collections(), collections),
      instance,
      resolve: resolveHost,
      dial,
      observer,
      unresolved: logUnresolved(log),
    });
  }

  /** Where each dial-out stands. */
  status(): readonly SinkStatus[] {
    return this.#dialer.status();
  }

  /** Dials these sinks from now on, and no others. */
  configure({ sinks, instance }: Settings): void {
    // Whoever met us under another name, as stored settings had it, is to know.
    if (this.#instance !== instance) this.#dialer.configure([]);
    this.#instance = instance;
    const { targets, unusable } = sinkTargets(sinks, this.#folder);
    this.#undialable(unusable);
    this.#dialer.configure(targets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dialer[Symbol.asyncDispose]();
  }
}
