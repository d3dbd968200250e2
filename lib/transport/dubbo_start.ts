/**
 * Gets Dubbo applications going whose start has stopped half-way.
 *
 * While it starts, an application asks on one thread and acknowledges on another, and what it sends on
 * both at once gets lost or garbled within it (seen in up to half of all starts on a busy machine).
 * Then it waits for ever for the answer to a request that it never sent. It sends all of its requests
 * again on a new stream, and opens one 3 s after the old one has ended. So a stream on which a start
 * goes quiet before endpoints were asked for is ended without an error, a few times at most: an
 * application that only provides something never asks for any, and is no different otherwise.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import { xdsType } from "../model/xds_type.ts";
import type { Clock } from "../rollout/clock.ts";
import type { PushStream } from "./push_stream.ts";

/** How long a start may be quiet. Milliseconds. */
export const QUIET = 4000;

/** How long a start may take. What comes later from the same place is no part of it. Milliseconds. */
export const START = 60_000;

/** Streams that may be ended for the sake of one start. */
export const ENDS = 3;

/** Starts that are remembered. */
const MOST = 1000;

/** A start begins with this; who comes back asks for routes first. */
const FIRST = xdsType("Listener").typeUrl;
/** With this it is through. */
const LAST = xdsType("ClusterLoadAssignment").typeUrl;

/** What is left to a place where something starts. Applications at one place may be indistinguishable. */
interface Starting {
  readonly since: number;
  /** Streams that may still be ended. */
  readonly ends: number;
}

/** The starts that are under way, by where: what the streams of a server share. */
export class DubboStarts {
  readonly #byPlace = new Map<string, Starting>();

  /** Something starts here now. */
  begin(place: string, now: number): void {
    const before = this.#current(place, now)?.ends ?? 0;
    this.#byPlace.delete(place);
    this.#byPlace.set(place, { since: now, ends: Math.min(before + ENDS, 10 * ENDS) });
    const [oldest] = this.#byPlace.keys();
    if (this.#byPlace.size > MOST) this.#byPlace.delete(oldest!);
  }

  /** Whether a start is under way here, so that a stream may be ended. */
  isUnderWay(place: string, now: number): boolean {
    return (this.#current(place, now)?.ends ?? 0) > 0;
  }

  /** A stream is ended for its sake. */
  count(place: string): void {
    const { since, ends } = this.#byPlace.get(place)!;
    this.#byPlace.set(place, { since, ends: ends - 1 });
  }

  #current(place: string, now: number): Starting | undefined {
    const starting = this.#byPlace.get(place);
    return starting !== undefined && now - starting.since < START ? starting : undefined;
  }
}

/** What the watch over one stream works with. */
export interface DubboStartOptions {
  readonly clock: Clock;
  readonly starts: DubboStarts;
  /** The stream that may have to be ended. */
  readonly stream: Pick<PushStream, "signal" | "end" | "peer">;
}

/** A request, as far as it tells how a start goes. */
export interface StartRequest {
  /** What the peer counts as by now. */
  readonly kind: ClientKind;
  /** Node id; the same for all that run at one address without Kubernetes. */
  readonly id: string;
  /** Type URL. */
  readonly type?: string | undefined;
}

/** Watches the start of whoever is at the other end of one stream. */
export class DubboStart {
  readonly #options: DubboStartOptions;
  #state: "unheard" | "starting" | "over" = "unheard";
  #heard = 0;

  constructor(options: DubboStartOptions) {
    this.#options = options;
  }

  /** Takes note of a request. */
  heard({ kind, id, type }: StartRequest): void {
    if (this.#state === "over") return;
    const { clock, starts, stream } = this.#options;
    const place = `${stream.peer.address} ${id}`;
    this.#heard = clock.now();
    if (kind !== "dubbo" || type === LAST) this.#state = "over";
    else if (this.#state === "unheard") {
      if (type === FIRST) starts.begin(place, this.#heard);
      this.#state = starts.isUnderWay(place, this.#heard) ? "starting" : "over";
      if (this.#state === "starting") void this.#watch(place);
    }
  }

  async #watch(place: string): Promise<void> {
    const { clock, starts, stream } = this.#options;
    while (this.#state === "starting" && !stream.signal.aborted) {
      const left = this.#heard + QUIET - clock.now();
      if (left > 0) {
        await clock.sleep(left, stream.signal);
        continue;
      }
      this.#state = "over";
      if (!starts.isUnderWay(place, clock.now())) return;
      starts.count(place);
      stream.end();
    }
  }
}
