/**
 * The doors of the process: the gRPC server that peers dial and the ports that lead to it.
 *
 * @module
 */
import type { Settings } from "../model/settings.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { xdsResolvers } from "../protocol/xds_resolver.ts";
import { addCertificateService } from "../transport/certificate_service.ts";
import type { ClientWatch } from "../transport/client_watch.ts";
import { ListenError } from "../transport/listener.ts";
import { PushServer } from "../transport/server.ts";
import { addServices } from "../transport/services.ts";
import type { ServingState } from "../transport/serving_state.ts";
import type { Sessions } from "../transport/sessions.ts";
import { addSideServices } from "../transport/side_services.ts";
import { addXdsServices } from "../transport/xds_services.ts";
import { emptyResource } from "../view/dubbo/empty.ts";
import { variantOf } from "../view/dubbo/variant.ts";
import { Listeners, type ListenersOptions, type OpenPort } from "./listeners.ts";

/** What the doors lead to. */
export interface DoorsOptions extends Omit<ListenersOptions, "server"> {
  readonly sessions: Sessions;
  /** What MCP collections stand for now. */
  readonly collections: () => Resolver;
  /** What health checks are answered with. */
  readonly state: ServingState;
  /** What each client holds. */
  readonly watch: ClientWatch;
}

/** How long streams of a server that another replaces may take to end. Milliseconds. */
const REPLACE = 500;

/** Opens what the settings say; made once, opened when there is something to serve. */
export class Doors {
  readonly #options: DoorsOptions;
  #identity: string | undefined;
  #server: PushServer | undefined;
  #listeners: Listeners | undefined;

  constructor(options: DoorsOptions) {
    this.#options = options;
  }

  /** The ports that are open, and those that wait for their TLS files. */
  get ports(): readonly OpenPort[] {
    return this.#listeners?.ports ?? [];
  }

  /** Connections of those who dialled. */
  get connections(): number {
    return this.#server?.connections ?? 0;
  }

  /**
   * Listens on what the settings say, and nowhere else. What a server is made with (`instance`,
   * `limits`) may differ from before only at start, between the stored settings and those read: then
   * there is another server. Rejects with a ListenError that names the setting to change.
   */
  async open(settings: Settings): Promise<void> {
    const identity = JSON.stringify([settings.instance, settings.limits.message]);
    if (this.#identity !== identity) {
      await this.drain(REPLACE);
      this.#identity = identity;
      this.#server = this.#serve(settings);
      this.#listeners = new Listeners({ ...this.#options, server: this.#server });
    }
    try {
      await this.#listeners!.configure(
        settings.listen.map((one) => ({ ...one, certificate: "require", unproven: false })),
      );
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      throw new ListenError(`${error.message}; \`listen\` in the configuration changes it`, {
        cause: error,
      });
    }
  }

  /** Lets nobody in any more and ends all streams, within `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    await this.#listeners?.[Symbol.asyncDispose]();
    await this.#server?.drain(ms);
  }

  #serve(settings: Settings): PushServer {
    const server = new PushServer({
      now: () => performance.now(),
      maxReceive: settings.limits.message,
    });
    const { sessions, collections, state, watch } = this.#options;
    const { instance } = settings;
    const typeUrls = xdsResolvers({ empty: emptyResource, variant: variantOf });
    addServices(server, { sessions, instance, typeUrls, collections });
    addXdsServices(server, { sessions, instance, typeUrls });
    addCertificateService(server);
    addSideServices(server, {
      state,
      sender: sessions.sender,
      clients: { sessions: () => sessions.list(), watch },
    });
    return server;
  }
}
