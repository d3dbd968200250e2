/**
 * Gets a Dubbo application going whose start has stopped half-way.
 *
 * While it starts, an application asks on one thread and acknowledges on another, and what it sends on
 * both at once may get lost within it: then it waits for ever for the answer to a request that it never
 * sent (seen in up to half of all starts on a busy machine). It sends all of its requests again on a
 * new stream, and opens one 3 s after the old one has ended. So a stream on which a start goes quiet
 * before endpoints were asked for is ended, without an error and once.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import { xdsType } from "../model/xds_type.ts";
import type { Clock } from "../rollout/clock.ts";
import type { PushStream } from "./push_stream.ts";

/** How long a start may be quiet before it has asked for routes: it does at once. Milliseconds. */
export const QUIET = 3000;

/** How long after that, when it may be that it has nothing to call: who only provides is through. Milliseconds. */
export const QUIET_AFTER_ROUTES = 10_000;

/** A start begins with this; who comes back asks for routes first. */
const LISTENERS = xdsType("Listener").typeUrl;
const ROUTES = xdsType("RouteConfiguration").typeUrl;
/** With this it is through. */
const ENDPOINTS = xdsType("ClusterLoadAssignment").typeUrl;

/** What the watch works with. */
export interface DubboStartOptions {
  readonly clock: Clock;
  /** The stream that may have to be ended. */
  readonly stream: Pick<PushStream, "signal" | "end">;
}

/** Watches the start of whoever is at the other end of one stream. */
export class DubboStart {
  readonly #options: DubboStartOptions;
  #state: "unheard" | "starting" | "over" = "unheard";
  #limit = QUIET;
  #heard = 0;

  constructor(options: DubboStartOptions) {
    this.#options = options;
  }

  /** Takes note of a request, by its type URL; `kind` is what the peer counts as by now. */
  heard(kind: ClientKind, type: string | undefined): void {
    if (this.#state === "over") return;
    this.#heard = this.#options.clock.now();
    if (type === ROUTES) this.#limit = QUIET_AFTER_ROUTES;
    if (kind !== "dubbo" || type === ENDPOINTS) this.#state = "over";
    else if (this.#state === "unheard") {
      this.#state = type === LISTENERS ? "starting" : "over";
      if (type === LISTENERS) void this.#watch();
    }
  }

  async #watch(): Promise<void> {
    const { clock, stream } = this.#options;
    const { signal } = stream;
    while (this.#state === "starting" && !signal.aborted) {
      const left = this.#heard + this.#limit - clock.now();
      if (left > 0) {
        await clock.sleep(left, signal);
        continue;
      }
      this.#state = "over";
      stream.end();
    }
  }
}
