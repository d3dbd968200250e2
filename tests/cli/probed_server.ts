/**
 * Servers to probe: our own over a hub, and ones that misbehave.
 *
 * @module
 */
import { collectionResolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { listen, type Listener, type ListenOptions } from "../../lib/transport/listener.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { addServices } from "../../lib/transport/services.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import { mcpResourceCodec, serviceEntryCodec } from "../../lib/wire/messages.ts";
import { observers } from "../../lib/cli/observers.ts";
import type { Screen } from "../../lib/cli/terminal.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";

/** A ServiceEntry with this host. */
export function entry(name: string, host: string): Resource {
  const body = serviceEntryCodec.pack({ hosts: [host], ports: [{ number: 80, name: "http" }] });
  const version = contentHash([new TextEncoder().encode(name + host)]);
  const bytes = mcpResourceCodec.encode({ metadata: { name, version }, body });
  return { name, version, bytes };
}

/** Our own server, on a loopback port, over a hub. */
export class ProbedServer implements AsyncDisposable {
  readonly hub = new Hub();
  readonly sessions: Sessions;
  readonly #sender = new Sender({ now: () => performance.now() });
  readonly #server: PushServer;
  readonly #listener: Listener;

  private constructor(server: PushServer, listener: Listener) {
    this.#server = server;
    this.#listener = listener;
    this.sessions = new Sessions({
      targets: this.hub,
      sender: this.#sender,
      observer: observers(),
      clock: systemClock,
    });
    const collections = collectionResolver({ unknownCollection: "error" });
    addServices(server, {
      sessions: this.sessions,
      instance: "edge-1",
      typeUrls: typeUrlResolver(),
      collections: () => collections,
    });
  }

  static async start(options: Pick<ListenOptions, "secure"> = {}): Promise<ProbedServer> {
    const now = () => performance.now();
    const server = new PushServer({ now });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now, ...options });
    return new ProbedServer(server, listener);
  }

  get address(): string {
    return `127.0.0.1:${this.#listener.address.port}`;
  }

  /** Publishes these ServiceEntries, hosts by name. */
  publish(hosts: Readonly<Record<string, string>>): void {
    const resources = Object.entries(hosts).map(([name, host]) => entry(name, host));
    const empty = emptySnapshot(SETTINGS);
    const collections = new Map(empty.collections);
    collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources));
    const snapshot = makeSnapshot({ ...empty, collections });
    this.hub.publish({ snapshot, changedAt: Date.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    this.sessions[Symbol.dispose]();
    this.#sender[Symbol.dispose]();
  }
}

/** A server whose streams are handed to `behave`. */
export async function badServer(
  behave: (stream: PushStream) => void,
): Promise<AsyncDisposable & { readonly address: string }> {
  const now = () => performance.now();
  const server = new PushServer({ now });
  const methods = [
    "/istio.mcp.v1alpha1.ResourceSource/EstablishResourceStream",
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
  ];
  for (const path of methods) server.addStream(path, behave);
  const listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now });
  return {
    address: `127.0.0.1:${listener.address.port}`,
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A screen that keeps what is written. */
export class KeptScreen implements Screen {
  readonly isTerminal: boolean;
  readonly colours = false;
  readonly rows: number;
  readonly columns: number;
  text = "";
  readonly #gone = new AbortController();
  #left = false;

  constructor({ isTerminal = false, columns = 80, rows = 24 } = {}) {
    this.isTerminal = isTerminal;
    this.columns = columns;
    this.rows = rows;
  }

  size(): { columns: number; rows: number } | undefined {
    return this.isTerminal ? { columns: this.columns, rows: this.rows } : undefined;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Nobody reads any more; as of a pipe, that is noticed when something is written. */
  leave(): void {
    this.#left = true;
  }

  write(text: string): Promise<void> {
    if (this.#left) this.#gone.abort();
    else this.text += text;
    return Promise.resolve();
  }
}
