/**
 * One server of MCP over xDS that is pulled from: dialled, kept, dialled again for ever. One stream,
 * to any of the addresses behind its name; where that fails, the next is tried.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { AdsTypeStatus, AdsVariant } from "../protocol/ads_client.ts";
import type { Judge } from "../receive/received.ts";
import type { SourceConnection, SourceRegistry } from "../receive/registry.ts";
import type { Clock } from "../rollout/clock.ts";
import { backoffDelay, DIAL_BACKOFF } from "./backoff.ts";
import { dialInTime } from "./dial_in_time.ts";
import type { DialTarget } from "./dial_target.ts";
import { ADS_PATHS } from "./method_paths.ts";
import { NameLookUp } from "./name_look_up.ts";
import type { Serves } from "./pull_node.ts";
import { PullKnowledge } from "./pull_knowledge.ts";
import { PullStream } from "./pull_stream.ts";
import type { PushStream } from "./push_stream.ts";
import type { Sender } from "./sender.ts";
import type { Resolve } from "./sink_dialer.ts";
import type { LinkState } from "./sink_link.ts";
import { INSTANCE_HEADER } from "./source_name.ts";

/** A server to pull from; nothing is left to expand. */
export interface PullTarget extends DialTarget {
  /** `xds://host:port`; unique; names the source. */
  readonly url: string;
  /** Patterns of namespaces that it may fill, which the registry knows: when they change, all is asked anew. */
  readonly namespaces: readonly string[];
}

/** Opens a stream to `host`, or, where that is absent, to the target's own. Rejects where that fails. */
export type PullDial = (
  target: DialTarget,
  address: { readonly host?: string },
  path: string,
  options: { readonly signal: AbortSignal },
) => Promise<PushStream>;

/** Told how pulling fares. Must not throw. */
export interface PullObserver {
  /** The server answered for the first time on a new stream. */
  up(url: string, address: string, variant: AdsVariant): void;
  down(url: string, address: string, reason: string, retryInMs: number): void;
  /** A stream ended, and said what not to ask for; the next, which is dialled at once, is another. No failure. */
  learned?(url: string, address: string, reason: string): void;
}

/** What all links share. */
export interface PullContext {
  readonly registry: SourceRegistry;
  readonly judge: Judge;
  readonly sender: Sender;
  readonly dial: PullDial;
  readonly resolve: Resolve;
  readonly observer: PullObserver;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  /** Our name to servers. */
  readonly instance: string;
  /** Whether pulling from a server would be a circle, since it takes from us. Default: no. */
  readonly serves?: Serves;
}

/** A server that is pulled from, for status. */
export interface PullStatus {
  readonly url: string;
  /** `host:port` dialled last; absent before the name was resolved. */
  readonly address?: string;
  readonly state: LinkState;
  /** Spoken on the stream that lives; absent where none does. */
  readonly variant?: AdsVariant;
  /** Attempts since a stream last held. */
  readonly attempts: number;
  readonly lastError?: string;
  /** Of the last stream. */
  readonly types: readonly AdsTypeStatus[];
}

/** How long opening a stream may take. Milliseconds. */
const DIAL_DEADLINE = 10_000;

/** A stream that lasted so long starts the back-off anew; one that is lost sooner does not. Milliseconds. */
const HELD = 30_000;

/** How soon to dial again with what was learned. Milliseconds. */
const SOON = 100;

/** How long a server that serves none of our types is left alone. Milliseconds. */
const NOTHING_SERVED = 300_000;

/** Keeps one stream to one server. Disposing it ends the stream. */
export class PullLink implements AsyncDisposable {
  readonly target: PullTarget;
  readonly #context: PullContext;
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;
  readonly #lookUp: NameLookUp;
  /** By address. */
  #knowledge = new Map<string, PullKnowledge>();
  /** Counts up at each failure, so that the next address is tried. */
  #turn = 0;
  /** Addresses behind the name. */
  #behind = 1;
  /** Addresses in a row that serve none of our types. */
  #barren = 0;
  #state: LinkState;
  #address: string | undefined;
  #stream: PullStream | undefined;
  #types: readonly AdsTypeStatus[] = [];
  #variant: AdsVariant | undefined;
  #attempts = 0;
  #lastError: string | undefined;

  constructor(target: PullTarget, context: PullContext) {
    this.target = target;
    this.#context = context;
    this.#lookUp = new NameLookUp(() => context.resolve(target.host), context.clock);
    this.#state = { kind: "dialling", since: context.clock.now() };
    this.#done = this.#run(this.#abort.signal);
  }

  /** Where this link stands. */
  status(): PullStatus {
    return {
      url: this.target.url,
      ...(this.#address === undefined ? {} : { address: this.#address }),
      state: this.#state,
      ...(this.#variant === undefined ? {} : { variant: this.#variant }),
      attempts: this.#attempts,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      types: this.#stream?.status() ?? this.#types,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    this.#stream?.end("Pinnace pulls from here no longer");
    await this.#done;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random, observer } = this.#context;
    while (!signal.aborted) {
      this.#state = { kind: "dialling", since: clock.now() };
      const { reason, retry } = await this.#once(signal);
      if (signal.aborted) return;
      if (this.#held) this.#attempts = 0;
      if (retry === undefined) this.#attempts++;
      this.#lastError = reason;
      const delay = retry ?? backoffDelay(this.#attempts, random(), DIAL_BACKOFF);
      this.#state = { kind: "waiting", retryAt: clock.now() + delay };
      const address = this.#address ?? formatHostPort(this.target.host, this.target.port);
      if (retry === SOON) observer.learned?.(this.target.url, address, reason);
      else observer.down(this.target.url, address, reason, delay);
      await clock.sleep(delay, signal);
    }
  }

  /** Whether the stream that is over was good for long enough. */
  get #held(): boolean {
    return this.#state.kind === "up" && this.#context.clock.now() - this.#state.since >= HELD;
  }

  /** Dials and stays until the stream is over; gives the reason and, where back-off is not to decide, the delay. */
  async #once(signal: AbortSignal): Promise<Lost> {
    let knowledge: PullKnowledge | undefined;
    try {
      const host = await this.#pick(signal);
      this.#address = formatHostPort(host ?? this.target.host, this.target.port);
      knowledge = this.#know(this.#address);
      if (knowledge.types(this.#context.clock.now()).length === 0) {
        knowledge.away();
        return this.#servesNothing();
      }
      const stream = await this.#dial(host, ADS_PATHS[knowledge.variant], signal);
      return await this.#stay(stream, knowledge, signal);
    } catch (error) {
      knowledge?.away();
      this.#turn++;
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** The next address may serve more; only where none does, all are left alone. */
  #servesNothing(): Lost {
    this.#turn++;
    this.#barren++;
    const retry = this.#barren % this.#behind === 0 ? NOTHING_SERVED : SOON;
    return { reason: "the server serves none of Istio's types", retry };
  }

  /** The address to dial now; none where a proxy looks the name up. */
  async #pick(signal: AbortSignal): Promise<string | undefined> {
    if (this.target.proxy !== undefined) return undefined;
    const found = await this.#lookUp.find(signal);
    const known = [...this.#knowledge].filter(([address]) =>
      found.some((host) => formatHostPort(host, this.target.port) === address)
    );
    this.#knowledge = new Map(known);
    this.#behind = found.length;
    return found[this.#turn % found.length];
  }

  #know(address: string): PullKnowledge {
    let knowledge = this.#knowledge.get(address);
    if (knowledge === undefined) {
      knowledge = new PullKnowledge();
      this.#knowledge.set(address, knowledge);
    }
    return knowledge;
  }

  /** Opens a stream to `host`, in time. */
  async #dial(host: string | undefined, path: string, signal: AbortSignal): Promise<PushStream> {
    const { clock, dial, instance } = this.#context;
    const target = {
      ...this.target,
      headers: { [INSTANCE_HEADER]: instance, ...this.target.headers },
    };
    const address = host === undefined ? {} : { host };
    return await dialInTime((signal) => dial(target, address, path, { signal }), {
      deadline: DIAL_DEADLINE,
      clock,
      signal,
    });
  }

  async #stay(
    stream: PushStream,
    knowledge: PullKnowledge,
    signal: AbortSignal,
  ): Promise<Lost> {
    const { registry, clock } = this.#context;
    let end = (reason: string) => stream.end({ code: "CANCELLED", message: reason });
    const source = registry.connect({
      name: this.target.url,
      address: this.#address!,
      tentative: true,
      end: (reason) => end(reason),
    });
    if (!("take" in source)) {
      end(source.refused);
      return { reason: source.refused };
    }
    try {
      const pull = this.#open(stream, source, knowledge);
      end = (reason) => pull.end(reason);
      if (signal.aborted) end("Pinnace pulls from here no longer");
      const over = await pull.run();
      if (knowledge.learn(over, clock.now())) return { reason: over.reason, retry: SOON };
      this.#turn++;
      return { reason: over.reason };
    } finally {
      this.#types = this.#stream?.status() ?? [];
      this.#stream = undefined;
      this.#variant = undefined;
      source[Symbol.dispose]();
    }
  }

  #open(stream: PushStream, source: SourceConnection, knowledge: PullKnowledge): PullStream {
    const { judge, sender, clock, instance, observer, serves = () => false } = this.#context;
    const { url } = this.target;
    const { variant } = knowledge;
    this.#variant = variant;
    return this.#stream = new PullStream({
      stream,
      source,
      knowledge,
      judge,
      sender,
      clock,
      instance,
      serves,
      answered: () => {
        this.#barren = 0;
        this.#state = { kind: "up", since: clock.now() };
        this.#lastError = undefined;
        observer.up(url, this.#address!, variant);
      },
    });
  }
}

/** Why there is no stream, and, where back-off is not to decide it, when to dial again (milliseconds). */
interface Lost {
  readonly reason: string;
  readonly retry?: number;
}
