/**
 * One address of a remote ResourceSink: dialled, kept, dialled again for ever. A stream that falls
 * silent is told from one that is merely idle by the trigger message, which any sink answers
 * (protocols.md section 1); HTTP/2 pings would get us thrown out by Go servers.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { Clock } from "../rollout/clock.ts";
import { McpSourceMachine } from "../protocol/mcp_source.ts";
import type { Resolver } from "../protocol/resolve.ts";
import type { RequestResources } from "../wire/messages.ts";
import { backoffDelay, DIAL_BACKOFF } from "./backoff.ts";
import { mcpCodec, triggerMessage } from "./codecs.ts";
import { dialInTime } from "./dial_in_time.ts";
import type { DialTarget } from "./dial_target.ts";
import type { PushStream } from "./push_stream.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { INSTANCE_HEADER, RESUMES_HEADER } from "./source_name.ts";

/** The method that a ResourceSink serves. */
export const RESOURCE_SINK_PATH = "/istio.mcp.v1alpha1.ResourceSink/EstablishResourceStream";

/** How long a sink may take to answer a trigger, or to accept a stream. Milliseconds. */
const ANSWER_DEADLINE = 5000;

/** A sink, how it is dialled and what it gets; nothing is left to expand. */
export interface SinkTarget extends DialTarget {
  readonly name: string;
  /** Milliseconds. */
  readonly heartbeat: number;
  /** MCP collections that it may have; empty: all. */
  readonly collections: readonly string[];
  /** In which wave it gets a change. */
  readonly wave: number;
}

/**
 * Opens a stream: to `host` where given, one of the addresses behind the target's name, else to the
 * name itself. Rejects where that fails.
 */
export type Dial = (
  target: DialTarget,
  address: { readonly host?: string },
  path: string,
  options: { readonly signal: AbortSignal },
) => Promise<PushStream>;

/** What links share. */
export interface LinkContext {
  readonly sessions: Sessions;
  readonly dial: Dial;
  /** What collections stand for, to this sink. */
  readonly resolver: (target: SinkTarget) => Resolver;
  readonly observer: LinkObserver;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  /** Our name to sinks. */
  readonly instance: () => string;
}

/** Told how links fare. Must not throw. */
export interface LinkObserver {
  up(sink: string, address: string): void;
  down(sink: string, address: string, reason: string, retryInMs: number): void;
}

/** Where a link stands. Times in milliseconds since the epoch. */
export type LinkState =
  | { readonly kind: "dialling"; readonly since: number }
  | { readonly kind: "up"; readonly since: number }
  | { readonly kind: "waiting"; readonly retryAt: number };

/** A link, for status. */
export interface LinkStatus {
  /** `host:port` of the address dialled. */
  readonly address: string;
  readonly state: LinkState;
  /** Attempts since the link was last up. */
  readonly attempts: number;
  readonly lastError?: string;
}

/** Keeps one stream to one address of a sink. Disposing it ends the stream. */
export class SinkLink implements AsyncDisposable {
  readonly #context: LinkContext;
  readonly #target: SinkTarget;
  readonly #host: string | undefined;
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;
  #state: LinkState;
  #attempts = 0;
  #lastError: string | undefined;

  /** `host` is one of the addresses behind the target's name; absent: whoever we dial through finds them. */
  constructor(target: SinkTarget, host: string | undefined, context: LinkContext) {
    this.#target = target;
    this.#host = host;
    this.#context = context;
    this.#state = { kind: "dialling", since: context.clock.now() };
    this.#done = this.#run(this.#abort.signal);
  }

  /** Where this link stands. */
  status(): LinkStatus {
    return {
      address: this.#address,
      state: this.#state,
      attempts: this.#attempts,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }

  get #address(): string {
    return formatHostPort(this.#host ?? this.#target.host, this.#target.port);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random, observer } = this.#context;
    while (!signal.aborted) {
      this.#state = { kind: "dialling", since: clock.now() };
      const reason = await this.#once(signal);
      if (signal.aborted) return;
      this.#attempts++;
      this.#lastError = reason;
      const delay = backoffDelay(this.#attempts, random(), DIAL_BACKOFF);
      this.#state = { kind: "waiting", retryAt: clock.now() + delay };
      observer.down(this.#target.name, this.#address, reason, delay);
      await clock.sleep(delay, signal);
    }
  }

  /** Dials and stays until the stream is over; gives the reason. */
  async #once(signal: AbortSignal): Promise<string> {
    try {
      return await this.#stay(await this.#dial(signal), signal);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #dial(signal: AbortSignal): Promise<PushStream> {
    const { clock, dial, instance } = this.#context;
    const { headers } = this.#target;
    const said = { [INSTANCE_HEADER]: instance(), [RESUMES_HEADER]: "1" };
    const target = { ...this.#target, headers: { ...said, ...headers } };
    const address = this.#host === undefined ? {} : { host: this.#host };
    return await dialInTime((signal) => dial(target, address, RESOURCE_SINK_PATH, { signal }), {
      deadline: ANSWER_DEADLINE,
      clock,
      signal,
    });
  }

  async #stay(stream: PushStream, signal: AbortSignal): Promise<string> {
    const { sessions, resolver } = this.#context;
    const machine = (prefix: string) =>
      new McpSourceMachine({ prefix, resolver: resolver(this.#target), dialOut: true });
    const session = sessions.open(stream, machine, mcpCodec("mcp-sink"), {
      sink: this.#target.name,
      wave: this.#target.wave,
      opening: triggerMessage(),
    });
    const end = () => session.end("CANCELLED", "Pinnace ends this dial-out");
    signal.addEventListener("abort", end, { once: true });
    try {
      if (signal.aborted) end();
      const reason = await this.#watch(session);
      return reason ?? stream.failure ?? "the sink ended the stream";
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** Asks for a sign of life whenever nothing came for a heartbeat; returns when the stream is over. */
  async #watch(session: Session<RequestResources>): Promise<string | undefined> {
    let asked = true; // the opening message is the first question
    while (true) {
      const heard = await session.hears(asked ? ANSWER_DEADLINE : this.#target.heartbeat);
      if (heard === "over") return undefined;
      if (heard === "request") {
        this.#up();
        asked = false;
      } else if (!asked) {
        session.trigger();
        asked = true;
      } else {
        const reason = `no answer within ${ANSWER_DEADLINE / 1000} s`;
        session.end("DEADLINE_EXCEEDED", reason);
        return reason;
      }
    }
  }

  #up(): void {
    if (this.#state.kind === "up") return;
    this.#state = { kind: "up", since: this.#context.clock.now() };
    this.#attempts = 0;
    this.#lastError = undefined;
    this.#context.observer.up(this.#target.name, this.#address);
  }
}
