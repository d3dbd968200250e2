/**
 * Plays a transcript against a control plane: asks what the recorded client asked, when the responses
 * have come that it asked after, and acknowledges what its recorded requests leave unanswered.
 *
 * @module
 */
import { pause } from "../lib/wait.ts";
import { RawClient, type WireResponse } from "./control_planes.ts";
import type { Ask, Transcript } from "./transcript.ts";

/** What is played against. */
export interface Stage {
  /** `host:port`. */
  readonly address: string;
  /** Serves a world in place of the one before. */
  change(world: string): Promise<void>;
}

/** What came between two changes of the world, or of the stream. */
export interface Phase {
  /** For people: which change. */
  readonly label: string;
  readonly responses: readonly WireResponse[];
  /** Why the stream ended, where it did. */
  readonly ended?: string;
}

/** How long a recorded response is waited for before the play goes on without it. Milliseconds. */
const PATIENCE = 3000;
/** Nothing for this long, and nothing more is coming. Milliseconds. */
const QUIET = 700;

/** Plays it from its first stream on, which sees the world that is served now. */
export async function play(transcript: Transcript, stage: Stage): Promise<readonly Phase[]> {
  await using client = new RawClient(stage.address);
  return await new Player(transcript, stage, client).play();
}

/** What is known of a type on a stream. */
class Subscription {
  readonly responses: WireResponse[] = [];
  readonly answered = new Set<string>();
  names: readonly string[] = [];

  get unanswered(): readonly WireResponse[] {
    return this.responses.filter(({ nonce }) => !this.answered.has(nonce));
  }
}

class Player {
  readonly #transcript: Transcript;
  readonly #stage: Stage;
  readonly #client: RawClient;
  readonly #phases: Phase[] = [];
  /** Of every stream: what a client still has when one is lost. */
  readonly #accepted = new Map<string, string>();
  readonly #held = new Map<string, Map<string, string>>();
  #subscriptions = new Map<string, Subscription>();
  #stream = 0;
  #taken = 0;
  #recorded = 0;
  #phase: { label: string; responses: WireResponse[] } | undefined;

  constructor(transcript: Transcript, stage: Stage, client: RawClient) {
    this.#transcript = transcript;
    this.#stage = stage;
    this.#client = client;
  }

  async play(): Promise<readonly Phase[]> {
    for (const step of this.#transcript.steps) {
      if (step.do !== "ask") await this.#close();
      switch (step.do) {
        case "open":
          this.#stream = await this.#client.open(this.#transcript.mode);
          this.#subscriptions = new Map();
          this.#taken = 0;
          this.#recorded = 0;
          this.#phase = { label: `stream ${this.#stream}`, responses: [] };
          break;
        case "lost":
          await this.#client.lose();
          this.#stream = 0;
          break;
        case "world":
          if (this.#stream !== 0) {
            this.#phase = { label: `stream ${this.#stream}, ${step.world}`, responses: [] };
          }
          await this.#stage.change(step.world);
          break;
        case "ask":
          await this.#ask(step);
      }
      await this.#wait(step.answers ?? 0);
    }
    await this.#close();
    return this.#phases;
  }

  async #ask(ask: Ask): Promise<void> {
    const subscription = this.#of(ask.type);
    const response = ask.answer === undefined ? undefined : await this.#toAnswer(ask);
    const changes = (ask.subscribe ?? ask.unsubscribe) !== undefined ||
      `${ask.names ?? []}` !== `${subscription.names}`;
    // A client has nothing to acknowledge here, so it says nothing.
    if (ask.answer !== undefined && response === undefined && !changes) return;
    subscription.names = ask.names ?? [];
    if (response !== undefined) subscription.answered.add(response.nonce);
    const accepted = this.#accepted.get(ask.type) ?? "";
    if (response !== undefined && ask.refusal === undefined) this.#accept(response);
    const version = ask.version === "answered" ? response?.version ?? accepted : accepted;
    await this.#send(ask.type, {
      ...(ask.node === undefined ? {} : { node: this.#transcript.node }),
      ...(ask.version === undefined ? {} : { versionInfo: version }),
      responseNonce: response?.nonce ?? nonceOf(ask, subscription),
      ...(ask.names === undefined ? {} : { resourceNames: ask.names }),
      ...(ask.subscribe === undefined ? {} : { resourceNamesSubscribe: ask.subscribe }),
      ...(ask.unsubscribe === undefined ? {} : { resourceNamesUnsubscribe: ask.unsubscribe }),
      ...(ask.holds === undefined ? {} : { initialResourceVersions: this.#versions(ask) }),
      ...(ask.refusal === undefined ? {} : { errorDetail: ask.refusal }),
    });
  }

  /** The response that a recorded answer is for: the newest, or, where it answered an earlier one, the first that is left. */
  async #toAnswer({ type, nonce }: Ask): Promise<WireResponse | undefined> {
    const subscription = this.#of(type);
    await this.#until(() => subscription.unanswered.length > 0);
    return nonce === "earlier" ? subscription.unanswered[0] : subscription.unanswered.at(-1);
  }

  #versions({ type, holds = [] }: Ask): Record<string, string> {
    const held = this.#held.get(type);
    return Object.fromEntries(holds.flatMap((name) => {
      const version = held?.get(name);
      return version === undefined ? [] : [[name, version] as const];
    }));
  }

  async #send(type: string, request: object): Promise<void> {
    await this.#client.send({ typeUrl: type, ...request });
  }

  #of(type: string): Subscription {
    let subscription = this.#subscriptions.get(type);
    if (subscription === undefined) {
      subscription = new Subscription();
      this.#subscriptions.set(type, subscription);
    }
    return subscription;
  }

  #accept(response: WireResponse): void {
    this.#accepted.set(response.type, response.version);
    const held = this.#held.get(response.type) ?? new Map<string, string>();
    this.#held.set(response.type, held);
    for (const { name, version } of response.resources) held.set(name, version);
    for (const name of response.removed) held.delete(name);
  }

  /** Takes what has come; says whether anything has. */
  #take(): boolean {
    if (this.#stream === 0) return false;
    const fresh = this.#client.responses(this.#stream).slice(this.#taken);
    this.#taken += fresh.length;
    for (const response of fresh) {
      this.#of(response.type).responses.push(response);
      this.#phase!.responses.push(response);
    }
    return fresh.length > 0;
  }

  /** Waits until as many responses came on the stream as the recorded client had here. */
  async #wait(answers: number): Promise<void> {
    this.#recorded += answers;
    await this.#until(() => this.#taken >= this.#recorded);
    // What was waited for in vain once is not waited for again.
    this.#recorded = Math.min(this.#recorded, this.#taken);
  }

  async #until(condition: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (!(this.#take(), condition()) && performance.now() < end) await pause(5);
  }

  /** Ends a phase: takes and acknowledges what comes, until nothing does. */
  async #close(): Promise<void> {
    if (this.#phase === undefined) return;
    do {
      for (const [type, subscription] of this.#subscriptions) {
        const response = subscription.unanswered.at(-1);
        if (response === undefined) continue;
        for (const { nonce } of subscription.responses) subscription.answered.add(nonce);
        this.#accept(response);
        const { version: versionInfo, nonce: responseNonce } = response;
        await this.#send(type, {
          responseNonce,
          ...(this.#transcript.mode === "sotw"
            ? { versionInfo, resourceNames: subscription.names }
            : {}),
        });
      }
    } while (await this.#more());
    const ended = this.#client.ended(this.#stream);
    this.#phases.push({ ...this.#phase, ...(ended === undefined ? {} : { ended }) });
    this.#phase = undefined;
  }

  async #more(): Promise<boolean> {
    const end = performance.now() + QUIET;
    while (performance.now() < end) {
      if (this.#take()) return true;
      await pause(5);
    }
    return false;
  }
}

/** The nonce of a request that answers nothing. */
function nonceOf({ nonce }: Ask, { responses }: Subscription): string {
  switch (nonce) {
    case undefined:
      return "";
    case "newest":
      return responses.at(-1)?.nonce ?? "";
    case "earlier":
      return responses.at(-2)?.nonce ?? "of-long-ago";
    default:
      return "of-another-stream";
  }
}
