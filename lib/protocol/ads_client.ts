/**
 * xDS v3, the client's side of an aggregated stream, state of the world and delta (protocols.md
 * sections 2 to 4). Pure: responses go in as heads, verdicts on them follow, and when the transport
 * can write, it pulls the next request.
 *
 * @module
 */
import type { DeltaDiscoveryRequest, DiscoveryRequest } from "../wire/messages/discovery.ts";
import type { Status } from "../wire/messages/common.ts";
import type { Node } from "../wire/messages/node.ts";
import { quote } from "./quote.ts";
import { unfit } from "./unfit.ts";

/** The two forms of ADS: each response the whole of a type, or what changed. */
export type AdsVariant = "sotw" | "delta";

/** A type to ask for. */
export interface AdsType {
  readonly typeUrl: string;
  /** Resources asked for by name; none: nothing is asked for yet; absent: all there are. */
  readonly names?: readonly string[];
}

/** How an {@link AdsClientMachine} is made. */
export interface AdsClientOptions {
  readonly variant: AdsVariant;
  /** Who we are. In the first request of a stream and, in state of the world, in every answer, as istiod does. */
  readonly node: Partial<Node>;
  /** Asked for in this order. */
  readonly types: readonly AdsType[];
  /** By name, versions of what is held of a type, so that only differences are sent. Delta only; default: nothing. */
  readonly initial?: (typeUrl: string) => Readonly<Record<string, string>>;
  /** Ask for a type only when the one before was answered, so that it is plain which one ends a stream. Default: false. */
  readonly oneByOne?: boolean;
}

/** One request to write. */
export type AdsRequest =
  | { readonly variant: "sotw"; readonly message: Partial<DiscoveryRequest> }
  | { readonly variant: "delta"; readonly message: Partial<DeltaDiscoveryRequest> };

/** What a response says besides its resources. */
export interface AdsResponseHead {
  readonly type: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
}

/** What a response is to the client. */
export type AdsReceived =
  /** To be judged, then settled. */
  | { readonly kind: "response"; readonly type: string; readonly first: boolean }
  /** Of a type that was never asked for: nothing is answered. */
  | { readonly kind: "unasked"; readonly type: string }
  /** It cannot be answered by the rules of the protocol; the stream should end with this message. */
  | { readonly kind: "unfit"; readonly message: string };

/** What is known of one type, for status. */
export interface AdsTypeStatus {
  readonly type: string;
  /** Number of names asked for; absent: all. */
  readonly names?: number;
  /** Whether the request was made. */
  readonly asked: boolean;
  /** Whether any response came. */
  readonly answered: boolean;
  /** Version of the last response that was accepted. */
  readonly version?: string;
  /** Whether a response waits for its verdict. */
  readonly pending: boolean;
  readonly acks: number;
  readonly nacks: number;
  /** Why the last response refused was refused; at most 2,000 characters. */
  readonly lastNack?: string;
}

/** Longest reason that is kept. Characters. */
const REASON_KEPT = 2000;

/** One type of one stream. */
interface Subscription {
  readonly typeUrl: string;
  /** Asked for by name; undefined: all there are. */
  names: readonly string[] | undefined;
  /** The names that the server was told last. */
  told: readonly string[] | undefined;
  asked: boolean;
  answered: boolean;
  /** Whether its answer is no longer waited for. */
  passed: boolean;
  /** Of the last response accepted; empty before any. */
  version: string;
  /** Of the last response that got its verdict; empty before any. */
  nonce: string;
  /** By nonce, versions of responses without a verdict. */
  readonly pending: Map<string, string>;
  acks: number;
  nacks: number;
  lastNack: string | undefined;
}

/** A verdict that is due. */
interface Answer {
  readonly subscription: Subscription;
  /** What the answer says is held: the version accepted, or the one accepted before. */
  readonly version: string;
  readonly nonce: string;
  readonly error: Status | undefined;
}

/** One ADS stream on which we are the client. */
export class AdsClientMachine {
  readonly #options: AdsClientOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #answers: Answer[] = [];
  #greeted = false;

  constructor(options: AdsClientOptions) {
    this.#options = options;
    for (const type of options.types) this.ask(type);
  }

  /** Asks for a further type, after the others. One that is asked for already stays as it is. */
  ask(type: AdsType): void {
    if (this.#subscriptions.has(type.typeUrl)) return;
    const { typeUrl, names } = type;
    this.#subscriptions.set(typeUrl, {
      typeUrl,
      names,
      told: undefined,
      asked: false,
      answered: false,
      passed: false,
      version: "",
      nonce: "",
      pending: new Map(),
      acks: 0,
      nacks: 0,
      lastNack: undefined,
    });
  }

  /**
   * Asks for these names of a type from now on, in place of those before; for nothing, where there are
   * none. Throws a TypeError for a type that is not asked for by name.
   */
  rename(typeUrl: string, names: readonly string[]): void {
    const subscription = this.#subscriptions.get(typeUrl);
    if (subscription?.names === undefined) {
      throw new TypeError(`${quote(typeUrl)} is not asked for by name`);
    }
    subscription.names = names;
  }

  /** The next request, if one is due; it counts as sent. Answers go before types not asked for yet. */
  next(): AdsRequest | undefined {
    const answer = this.#answers.shift();
    if (answer !== undefined) return this.#answer(answer);
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.asked) {
        if (subscription.names?.length === 0) continue; // to name none would be to ask for all
        return this.#open(subscription);
      }
      const renamed = this.#renamed(subscription);
      if (renamed !== undefined) return renamed;
      if (this.#options.oneByOne && !subscription.answered && !subscription.passed) {
        return undefined;
      }
    }
    return undefined;
  }

  /** Stops waiting for an answer to what was asked, so that the next type can be; for {@link AdsClientOptions.oneByOne}. */
  goOn(): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.asked) subscription.passed = true;
    }
  }

  /** Takes the head of a response. One that is a `response` must be settled. */
  receive({ type, nonce, version }: AdsResponseHead): AdsReceived {
    const subscription = this.#subscriptions.get(type);
    if (subscription === undefined || !subscription.asked) return { kind: "unasked", type };
    const wrong = unfit(subscription, nonce, version);
    if (wrong !== undefined) return { kind: "unfit", message: wrong };
    const first = !subscription.answered;
    subscription.answered = true;
    subscription.pending.set(nonce, version);
    return { kind: "response", type, first };
  }

  /** Gives the verdict on a response: its ACK is due or, with an error, its NACK. Throws a TypeError where no such response waits. */
  settle(type: string, nonce: string, error?: Status): void {
    const subscription = this.#subscriptions.get(type);
    const version = subscription?.pending.get(nonce);
    if (subscription === undefined || version === undefined) {
      throw new TypeError(`no response ${quote(nonce)} of ${quote(type)} waits for a verdict`);
    }
    subscription.pending.delete(nonce);
    subscription.nonce = nonce;
    if (error === undefined) {
      subscription.acks++;
      subscription.version = version;
    } else {
      subscription.nacks++;
      subscription.lastNack = error.message.slice(0, REASON_KEPT);
    }
    this.#answers.push({ subscription, version: subscription.version, nonce, error });
  }

  /** Each type, in the order in which they are asked for. */
  status(): AdsTypeStatus[] {
    return [...this.#subscriptions.values()].map((subscription) => ({
      type: subscription.typeUrl,
      ...(subscription.names === undefined ? {} : { names: subscription.names.length }),
      asked: subscription.asked,
      answered: subscription.answered,
      ...(subscription.acks === 0 ? {} : { version: subscription.version }),
      pending: subscription.pending.size > 0,
      acks: subscription.acks,
      nacks: subscription.nacks,
      ...(subscription.lastNack === undefined ? {} : { lastNack: subscription.lastNack }),
    }));
  }

  #open(subscription: Subscription): AdsRequest {
    const { typeUrl, names = [] } = subscription;
    const { variant, initial } = this.#options;
    subscription.asked = true;
    subscription.told = names;
    const node = this.#node(!this.#greeted);
    if (variant === "sotw") {
      return { variant, message: { ...node, typeUrl, resourceNames: names } };
    }
    const initialResourceVersions = initial?.(typeUrl) ?? {};
    return {
      variant,
      message: { ...node, typeUrl, resourceNamesSubscribe: names, initialResourceVersions },
    };
  }

  /** The request that tells other names, if one is due. */
  #renamed(subscription: Subscription): AdsRequest | undefined {
    const { typeUrl, names, told = [], version, nonce, pending } = subscription;
    if (names === undefined || sameNames(names, told)) return undefined;
    const { variant } = this.#options;
    if (variant === "sotw") {
      // With its nonce this would accept a response that waits for its verdict; the answer says the names too.
      if (pending.size > 0) return undefined;
      subscription.told = names;
      const message = { versionInfo: version, resourceNames: names, typeUrl, responseNonce: nonce };
      return { variant, message };
    }
    subscription.told = names;
    const [before, now] = [new Set(told), new Set(names)];
    const message = {
      typeUrl,
      resourceNamesSubscribe: names.filter((name) => !before.has(name)),
      resourceNamesUnsubscribe: told.filter((name) => !now.has(name)),
    };
    return { variant, message };
  }

  #answer({ subscription, version, nonce, error }: Answer): AdsRequest {
    const { typeUrl, names = [] } = subscription;
    const { variant } = this.#options;
    const verdict = error === undefined ? {} : { errorDetail: error };
    const node = this.#node(variant === "sotw");
    if (variant === "delta") {
      return { variant, message: { ...node, typeUrl, responseNonce: nonce, ...verdict } };
    }
    subscription.told = names;
    return {
      variant,
      message: {
        ...node,
        versionInfo: version,
        resourceNames: names,
        typeUrl,
        responseNonce: nonce,
        ...verdict,
      },
    };
  }

  #node(due: boolean): { readonly node?: Node } {
    if (!due) return {};
    this.#greeted = true;
    return { node: this.#options.node as Node };
  }
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || a.length === b.length && a.every((name, i) => name === b[i]);
}
