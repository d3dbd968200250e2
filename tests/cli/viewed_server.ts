/**
 * Our own server, serving every kind of client what a configuration says: with the recipes and rules
 * that the program has.
 *
 * @module
 */
import { observers } from "../../lib/cli/observers.ts";
import { readConfig } from "../../lib/cli/read_config.ts";
import { VIEW_MAKERS } from "../../lib/cli/view_makers.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { applyChanges } from "../../lib/snapshot/apply.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot } from "../../lib/snapshot/snapshot.ts";
import { listen, type Listener } from "../../lib/transport/listener.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { addServices } from "../../lib/transport/services.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { ClientViews } from "../../lib/view/client_views.ts";
import { emptyResource } from "../../lib/view/dubbo/empty.ts";
import { variantOf } from "../../lib/view/dubbo/variant.ts";
import { NO_ADDRESSES } from "../../lib/view/recipe.ts";
import { systemSlices } from "../../lib/view/slices.ts";
import { folder } from "./command.ts";

/** A server on a loopback port. Disposing it ends it. */
export class ViewedServer implements AsyncDisposable {
  readonly #hub = new Hub();
  readonly #sender = new Sender({ now: () => performance.now() });
  readonly #server: PushServer;
  readonly #listener: Listener;
  readonly sessions: Sessions;

  private constructor(server: PushServer, listener: Listener) {
    this.#server = server;
    this.#listener = listener;
    this.sessions = new Sessions({
      targets: this.#hub,
      sender: this.#sender,
      observer: observers(),
      clock: systemClock,
      views: new ClientViews({
        makers: VIEW_MAKERS,
        addresses: NO_ADDRESSES,
        onReady: () => this.sessions.refresh(),
        slices: systemSlices(),
      }),
    });
    const collections = collectionResolver({ unknownCollection: "error" });
    addServices(server, {
      sessions: this.sessions,
      instance: "edge-1",
      typeUrls: xdsResolvers({ empty: emptyResource, variant: variantOf }),
      collections: () => collections,
    });
  }

  /** A server of this configuration. */
  static async start(config: string): Promise<ViewedServer> {
    const now = () => performance.now();
    const server = new PushServer({ now });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now });
    const viewed = new ViewedServer(server, listener);
    await viewed.configure(config);
    return viewed;
  }

  get address(): string {
    return `127.0.0.1:${this.#listener.address.port}`;
  }

  /** Serves this configuration, YAML, from now on. */
  async configure(config: string): Promise<void> {
    await using dir = await folder({ "pinnace.yaml": config });
    const { result, findings } = readConfig(`${dir.path}/pinnace.yaml`);
    const { changes, settings } = result;
    if (settings === undefined) throw new Error(JSON.stringify(findings));
    const before = this.#hub.current?.snapshot ?? emptySnapshot(settings);
    const snapshot = applyChanges(before, changes, settings, { full: true });
    this.#hub.publish({ snapshot, changedAt: Date.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    this.sessions[Symbol.dispose]();
    this.#sender[Symbol.dispose]();
  }
}
