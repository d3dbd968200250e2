/**
 * The door for sources: a server of its own, with a port of its own, on which we are a ResourceSink.
 *
 * @module
 */
import { expandAddress } from "../config/expand_address.ts";
import { expandFile } from "../config/expand_files.ts";
import { KINDS } from "../model/kind.ts";
import { isLoopback } from "../model/loopback.ts";
import type { ReceiveSettings, Settings } from "../model/settings.ts";
import type { Judge } from "../receive/received.ts";
import type { SourceRegistry } from "../receive/registry.ts";
import { systemClock } from "../rollout/clock.ts";
import { ListenError } from "../transport/listener.ts";
import { Receiver } from "../transport/receiver.ts";
import type { ReceivedStreamInfo, ReceiverObserver } from "../transport/receiver_observer.ts";
import type { Sender } from "../transport/sender.ts";
import { PushServer } from "../transport/server.ts";
import type { ServingState } from "../transport/serving_state.ts";
import { addSideServices } from "../transport/side_services.ts";
import { Listeners, type ListenersOptions, type OpenPort, type Port } from "./listeners.ts";
import { SourceTokens } from "./source_tokens.ts";

/** What the door leads to. */
export interface ReceiverDoorOptions extends Omit<ListenersOptions, "server"> {
  readonly registry: SourceRegistry;
  readonly judge: Judge;
  readonly sender: Sender;
  readonly observer: ReceiverObserver;
  /** Told of a token file that cannot be used, and when it can again (undefined). Must not throw. */
  readonly tokenProblem: (source: string, message: string | undefined) => void;
  /** What health checks are answered with. */
  readonly state: ServingState;
}

/** What may wait to be judged of one stream, however small messages are allowed to be. Bytes. */
const LEAST_WAITING = 64 * 1024 * 1024;

/** How long streams may take to end. Milliseconds. */
const DRAIN = 2000;

interface Open extends AsyncDisposable {
  readonly receiver: Receiver;
  readonly listeners: Listeners;
}

/** Lets sources in, where the settings say so. */
export class ReceiverDoor implements AsyncDisposable {
  readonly #options: ReceiverDoorOptions;
  #configured: string | undefined;
  #open: Open | undefined;

  constructor(options: ReceiverDoorOptions) {
    this.#options = options;
  }

  /** The port that is open or waits for its TLS files, or none. */
  get ports(): readonly OpenPort[] {
    return this.#open?.listeners.ports ?? [];
  }

  /** The live streams of sources. */
  get streams(): readonly ReceivedStreamInfo[] {
    return this.#open?.receiver.list() ?? [];
  }

  /** Opens what the settings say and nothing else. Rejects with a ListenError that names the setting to change. */
  async open({ instance, limits, receive }: Settings): Promise<void> {
    const configured = JSON.stringify([instance, limits.message, receive]);
    if (configured === this.#configured) return;
    await this[Symbol.asyncDispose]();
    if (receive === undefined) return;
    try {
      this.#open = await this.#listen(receive, instance, limits.message);
      this.#configured = configured;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      throw new ListenError(`${error.message}; \`receive\` in the configuration changes it`, {
        cause: error,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#open;
    this.#open = this.#configured = undefined;
    await open?.[Symbol.asyncDispose]();
  }

  async #listen(receive: ReceiveSettings, instance: string, maxReceive: number): Promise<Open> {
    await using opened = new AsyncDisposableStack();
    const { registry, judge, sender, observer, state } = this.#options;
    const tokens = opened.use(await this.#tokens(receive));
    const server = new PushServer({ now: () => performance.now(), maxReceive });
    opened.defer(() => server.drain(DRAIN));
    const receiver = opened.use(
      new Receiver({
        instance,
        naming: {
          tokens: () => tokens.current,
          unproven: isPlain(receive) || receive.insecure,
          from: receive.from,
        },
        collections: receive.collections.length > 0 ? receive.collections : EVERY_COLLECTION,
        registry: exceptOurselves(registry, instance),
        judge,
        sender,
        observer,
        clock: systemClock,
        inbox: { bytes: Math.max(LEAST_WAITING, 4 * maxReceive) },
      }),
    );
    tokens.onChange(() => receiver.tokensChanged());
    receiver.serveOn(server);
    addSideServices(server, { state, sender });
    const listeners = opened.use(new Listeners({ ...this.#options, server }));
    await listeners.configure([portOf(receive)]);
    const held = opened.move();
    return { receiver, listeners, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  async #tokens({ address, tokens }: ReceiveSettings): Promise<SourceTokens> {
    const { folder, tokenProblem } = this.#options;
    const paths = Object.entries(tokens).map(([name, file]) => {
      const expanded = expandFile(file, { folder });
      if (expanded.ok) return [name, expanded.path] as const;
      const why = `the token of ${name}: ${expanded.message}; ${expanded.hint}`;
      throw new ListenError(`cannot listen on ${address}: ${why}`);
    });
    return await SourceTokens.open(new Map(paths), tokenProblem);
  }
}

const EVERY_COLLECTION: readonly string[] = KINDS.map(({ collection }) => collection);

/** What one gives oneself would never go away. */
function exceptOurselves(registry: SourceRegistry, instance: string): SourceRegistry {
  const refused =
    `the source is this Pinnace itself, or another whose \`instance\` is ${instance} ` +
    "too; give each Pinnace its own `instance`";
  return {
    connect: (source) => source.instance === instance ? { refused } : registry.connect(source),
  };
}

/** The port that these settings want. */
export function portOf({ address, tls, tokens, insecure }: ReceiveSettings): Port {
  // Whoever bears a token need not have a certificate, nor anyone where nothing need be proved.
  const without = insecure || Object.keys(tokens).length > 0;
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    certificate: without ? "request" : "require",
    allow: [],
    insecure,
    unproven: insecure,
  };
}

/** Whether sources come in plaintext from this machine only, so that nothing is given away by believing them. */
function isPlain({ address, tls }: ReceiveSettings): boolean {
  const at = expandAddress(address);
  return tls === undefined && at.ok && isLoopback(at.host);
}
