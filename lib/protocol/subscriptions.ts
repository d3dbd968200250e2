/**
 * Every subscription of one stream: which there are, which have something to send, and whose turn it is.
 *
 * @module
 */
import type { XdsTypeName } from "../model/xds_type.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { STREAM_LIMITS, type StreamLimits } from "./limits.ts";
import { quote } from "./quote.ts";
import type { Resolver } from "./resolve.ts";
import type { Push, Received, SubscriptionStatus, TransitionStatus } from "./stream.ts";
import { type PeerTraits, Subscription } from "./subscription.ts";
import { Transition } from "./transition.ts";

/** What every machine is made with. */
export interface MachineOptions {
  /** Begins each nonce; no two streams of the process have the same. */
  readonly prefix: string;
  readonly resolver: Resolver;
  /** Whether each nonce ends with a slash and the type, where nothing else in a push names it. Default: false. */
  readonly typedNonces?: boolean;
  /** Default: {@link STREAM_LIMITS}. */
  readonly limits?: StreamLimits;
}

/** A request that ends its stream. */
export type Failure = Extract<Received, { ok: false }>;

/** A subscription found or made. */
export type Found =
  | { readonly ok: true; readonly subscription: Subscription; readonly created: boolean }
  | Failure;

/** The subscriptions of one stream. */
export class Subscriptions {
  readonly limits: StreamLimits;
  readonly #options: MachineOptions;
  readonly #traits: PeerTraits;
  readonly #byType = new Map<string, Subscription>();
  /** Those that may have something to send, whichever waited longest first. */
  readonly #waiting = new Set<Subscription>();
  /** Those that have a part in transitions. */
  readonly #xds = new Map<XdsTypeName, Subscription>();
  #snapshot: Snapshot | undefined;
  #transition: Transition | undefined;
  /** Number of the transition under way, or of the last one: each of its legs counts. */
  #transitions = 0;
  #nonces = 0;

  constructor(options: MachineOptions, traits: PeerTraits) {
    this.#options = options;
    this.#traits = traits;
    this.limits = options.limits ?? STREAM_LIMITS;
  }

  /** The subscription to this type, made if there is none yet. */
  obtain(type: string): Found {
    const known = this.#byType.get(type);
    if (known !== undefined) return { ok: true, subscription: known, created: false };
    if (this.#byType.size >= this.limits.types) {
      return exhausted(`more than ${this.limits.types} types on one stream; open another stream`);
    }
    if (type.length > this.limits.typeLength) {
      return exhausted(
        `${quote(type)} is longer than the ${this.limits.typeLength} characters of any type`,
      );
    }
    const resolution = this.#options.resolver.resolve(type);
    if (resolution.kind === "unsupported") {
      return { ok: false, code: "INVALID_ARGUMENT", message: resolution.message };
    }
    const subscription = new Subscription(type, resolution.type, this.#traits);
    this.#byType.set(type, subscription);
    const { xds, alone = false } = resolution.type;
    if (xds !== undefined && !alone) this.#xds.set(xds, subscription);
    if (this.#snapshot !== undefined) this.#aim(subscription, this.#snapshot);
    return { ok: true, subscription, created: true };
  }

  /** An error if a subscription of so many names, so many characters long, asks for too much. */
  checkNames(type: string, names: number, characters: number): Failure | undefined {
    const { limits } = this;
    if (names > limits.names) {
      return exhausted(
        `${names} names in one subscription to ${quote(type)}; at most ${limits.names} are ` +
          'served on one stream, or all with "*"',
      );
    }
    if (characters > limits.characters) {
      return exhausted(
        `names of ${characters} characters in one subscription to ${quote(type)}; at most ` +
          `${limits.characters} are remembered`,
      );
    }
    return undefined;
  }

  /** The transition under way. */
  get transition(): TransitionStatus | undefined {
    if (this.#transition === undefined) return undefined;
    return { number: this.#transitions, phase: this.#transition.phase };
  }

  /** Notes that a request changed a subscription: it may have something to send. */
  wake(subscription: Subscription): void {
    this.#waiting.add(subscription);
    const isNews = subscription.served.xds === "Cluster" && subscription.told !== undefined;
    if (isNews && this.#transition === undefined && this.#snapshot !== undefined) {
      this.#begin(undefined, this.#snapshot);
    }
    this.#advance();
  }

  /** Takes a new target. Costs a comparison of references, rarely of versions, per subscription. */
  retarget(snapshot: Snapshot): void {
    const before = this.#snapshot;
    this.#snapshot = snapshot;
    if (this.#transition !== undefined) this.#transition.retarget(snapshot);
    else this.#begin(before, snapshot);
    for (const subscription of this.#byType.values()) this.#aim(subscription, snapshot);
    this.#advance();
  }

  /** Ends the transition of this number, if it is under way still. */
  expire(transition: number): void {
    if (this.#transition === undefined || transition !== this.#transitions) return;
    this.#transition.expire();
    this.#transition = undefined;
    for (const subscription of this.#xds.values()) this.#aim(subscription, this.#snapshot!);
  }

  /** The next push; the lowest priority first, among equals whichever waited longest. */
  next(): Push | undefined {
    while (this.#snapshot !== undefined) {
      // What a client says that it holds counts when the push is made, so a transition may go on here.
      let subscription = this.#first();
      if (subscription === undefined) {
        this.#advance();
        subscription = this.#first();
      }
      if (subscription === undefined) return undefined;
      this.#waiting.delete(subscription);
      // While a push is pending its answer wakes the subscription again.
      const push = subscription.push(this.#nonce(subscription));
      if (push === undefined) continue;
      this.#nonces++;
      this.#renew(subscription, push);
      return push;
    }
    return undefined;
  }

  /** Each subscription, in order of type. */
  status(): SubscriptionStatus[] {
    return [...this.#byType.values()].map((subscription) => subscription.status())
      .sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
  }

  /** What is asked for by name of a type; undefined: nothing is, or everything. */
  names(type: string): ReadonlySet<string> | undefined {
    const interest = this.#byType.get(type)?.interest;
    return interest === undefined || interest.wildcard ? undefined : interest.names;
  }

  /** Sends again what a type has under these names, as far as they are asked for. */
  renew(type: string, names: Iterable<string>): void {
    const subscription = this.#byType.get(type);
    if (subscription === undefined) return;
    subscription.renew(names);
    this.wake(subscription);
  }

  readonly #isQuiet = (one: Subscription) =>
    one.pendingNonce === undefined && !this.#waiting.has(one);

  /** Begins the transition that this step takes, if it takes one; `before`: undefined where nothing was there before. */
  #begin(before: Snapshot | undefined, after: Snapshot): void {
    this.#transition = Transition.ofReturning(this.#xds, this.#isQuiet, before, after) ??
      (before && Transition.between(this.#xds, this.#isQuiet, before, after));
    if (this.#transition !== undefined) this.#transitions++;
  }

  /** Lets the transition go on, and every type take its new target. */
  #advance(): void {
    const transition = this.#transition;
    if (transition === undefined) return;
    const { legs } = transition;
    transition.advance();
    this.#transitions += transition.legs - legs;
    if (transition.over) this.#transition = undefined;
    for (const subscription of this.#xds.values()) this.#aim(subscription, this.#snapshot!);
  }

  #aim(subscription: Subscription, snapshot: Snapshot): void {
    const { xds } = subscription.served;
    const all = this.#transition === undefined || xds === undefined
      ? subscription.served.collection(snapshot)
      : this.#transition.target(xds);
    if (subscription.retarget(all)) this.#waiting.add(subscription);
  }

  #nonce({ type }: Subscription): string {
    const { prefix, typedNonces = false } = this.#options;
    return `${prefix}${this.#nonces + 1}${typedNonces ? `/${type}` : ""}`;
  }

  /** Of those that wait, whose turn it is; a transition may hold some back. */
  #first(): Subscription | undefined {
    let first: Subscription | undefined;
    for (const subscription of this.#waiting) {
      const { xds } = subscription.served;
      if (xds !== undefined && this.#transition?.holds(xds)) continue;
      if (first === undefined || subscription.served.priority < first.served.priority) {
        first = subscription;
      }
    }
    return first;
  }

  /** Lets the type that follows this one send again what changed here. */
  #renew({ served, accepted }: Subscription, { content }: Push): void {
    if (served.renews === undefined || !this.#byType.has(served.renews)) return;
    const { changed } = content.kind === "delta"
      ? content.diff
      : content.collection.diff(accepted ?? served.nothing);
    this.renew(served.renews, changed.map((resource) => resource.name));
  }
}

/** The error for a request that names its resources by locators; `field` is where names are taken. */
export function dynamicParameters(field: string): Failure {
  const message = `resource locators with dynamic parameters are not served; use ${field}`;
  return { ok: false, code: "UNIMPLEMENTED", message };
}

function exhausted(message: string): Failure {
  return { ok: false, code: "RESOURCE_EXHAUSTED", message };
}
