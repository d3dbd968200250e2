/**
 * Tiers: Pinnaces that pull from one another over real connections.
 *
 * @module
 */
import type { Resource } from "../../lib/model/resource.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { collectionResolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import type { Event } from "../../lib/protocol/stream.ts";
import { judge } from "../../lib/receive/judge.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot } from "../../lib/snapshot/snapshot.ts";
import type { Ping } from "../../lib/transport/dial.ts";
import { dialTarget } from "../../lib/transport/dial_target.ts";
import type { PullContext, PullTarget } from "../../lib/transport/pull_link.ts";
import { Pulls } from "../../lib/transport/puller.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { addServices } from "../../lib/transport/services.ts";
import type { SessionObserver } from "../../lib/transport/session.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { MemoryRegistry, SERVICE_ENTRY } from "./pulling.ts";
import { Serving } from "./serving.ts";
import { now } from "./sockets.ts";
import { quietObserver } from "./quiet_observer.ts";

/** A Pinnace that serves what it is told to. */
export class Upstream implements AsyncDisposable {
  readonly events: Event[] = [];
  /** Resources in each push of service entries. */
  readonly pushes: number[] = [];
  streams = 0;
  readonly hub = new Hub();
  readonly #sender = new Sender({ now });
  readonly sessions: Sessions;
  #serving: Serving | undefined;

  constructor() {
    const observer: SessionObserver = {
      ...quietObserver,
      opened: () => void this.streams++,
      closed: () => void this.streams--,
      sent: (_session, { type, content }) => {
        if (type !== SERVICE_ENTRY) return;
        const full = content.kind === "full";
        this.pushes.push(full ? content.collection.size : content.diff.changed.length);
      },
      event: (_session, event) => void this.events.push(event),
    };
    const targets = this.hub;
    const sender = this.#sender;
    this.sessions = new Sessions({ targets, sender, observer, clock: systemClock });
  }

  static async start(instance: string): Promise<Upstream> {
    const upstream = new Upstream();
    upstream.#serving = await Serving.start();
    addServices(upstream.#serving.server, {
      sessions: upstream.sessions,
      instance,
      typeUrls: typeUrlResolver(),
      collections: () => collectionResolver({ unknownCollection: "empty" }),
    });
    return upstream;
  }

  get port(): number {
    return this.#serving!.port;
  }

  get acks(): number {
    return this.events.filter(({ kind }) => kind === "ack").length;
  }

  publish(entries: readonly Resource[]): void {
    const empty = emptySnapshot(SETTINGS);
    const all = Collection.of(MCP_RESOURCE_TYPE_URL, entries);
    const collections = new Map([...empty.collections, ["ServiceEntry", all]]);
    this.hub.publish({ snapshot: { ...empty, collections }, changedAt: Date.now() });
  }

  /** Ends every stream. */
  async stop(): Promise<void> {
    await this.#serving![Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.sessions[Symbol.dispose]();
    this.#sender[Symbol.dispose]();
  }
}

/** How who pulls differs from others. */
export interface DownstreamOptions extends Pick<PullContext, "serves"> {
  readonly ping?: Ping;
}

/** Who pulls. */
export class Downstream implements AsyncDisposable {
  readonly registry = new MemoryRegistry();
  readonly log: string[] = [];
  readonly pulls: Pulls;
  readonly #sender = new Sender({ now });

  constructor(instance = "downstream", options: DownstreamOptions = {}) {
    const { ping, serves } = options;
    this.pulls = new Pulls({
      instance,
      registry: this.registry,
      judge: (bytes, options) => Promise.resolve(judge(bytes, options)),
      sender: this.#sender,
      clock: systemClock,
      random: () => 1, // the shortest pauses
      resolve: (host) => Promise.resolve([host]),
      dial: (target, address, path, { signal }) =>
        dialTarget(target, address, path, { signal, now, ...(ping === undefined ? {} : { ping }) }),
      ...(serves === undefined ? {} : { serves }),
      observer: {
        up: (_url, _address, variant) => void this.log.push(`up ${variant}`),
        down: (_url, _address, reason) => void this.log.push(`down: ${reason}`),
        learned: (_url, _address, reason) => void this.log.push(`learned: ${reason}`),
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pulls[Symbol.asyncDispose]();
    this.#sender[Symbol.dispose]();
  }
}

/** The server at a loopback port, as a target. */
export function at(port: number): PullTarget {
  return { url: `xds://127.0.0.1:${port}`, host: "127.0.0.1", port, headers: {}, namespaces: [] };
}

/** Service entries that came from a server. */
export function namesOf(downstream: Downstream, { url }: PullTarget): string[] {
  return downstream.registry.names("ServiceEntry", url);
}
