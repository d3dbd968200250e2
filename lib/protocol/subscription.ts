/**
 * A subscription: one type on one stream, the same for every variant of every protocol. It knows what
 * the peer asks for, what it holds, what it refused and which push waits for its ACK, and from that
 * makes the next push. The variants differ in how their requests are read, not in what follows.
 *
 * @module
 */
import type { Status } from "../wire/messages.ts";
import type { Collection } from "../snapshot/collection.ts";
import { doubted, heldCollection, isInDoubt } from "./held.ts";
import { Interest } from "./interest.ts";
import { named } from "./named.ts";
import { Parking, type Proposal } from "./parking.ts";
import { Renewals } from "./renewals.ts";
import type { ServedType } from "./resolve.ts";
import { shaped } from "./shaped.ts";
import type { Content, Event, Push, SubscriptionStatus } from "./stream.ts";

/** Names listed in a nack event. */
const NAMES_SHOWN = 20;

/** Longest part of a peer's message that is kept. Characters. */
const MESSAGE_KEPT = 2000;

/** What a protocol's peers are like. */
export interface PeerTraits {
  /** Whether a peer may have applied part of what it refused, as Envoy does: then a retry leaves nothing out. */
  readonly partial: boolean;
}

/** A push that was made and not answered yet. */
interface Pending {
  readonly nonce: string;
  /** Without what the peer has stopped asking for since. */
  readonly proposal: Proposal;
  /** As sent, and what the peer had accepted by then. */
  readonly sent: Collection;
  readonly accepted: Collection;
}

/** One type on one stream. Pure: requests and collections go in, pushes come out. */
export class Subscription {
  /** Exactly as the peer asked for it. */
  readonly type: string;
  readonly served: ServedType;
  readonly interest: Interest;
  /** Whether pushes are to hold only what changed; the latest request says so. */
  incremental = false;
  readonly #traits: PeerTraits;
  readonly #parking = new Parking();
  /** Names to be sent though they may not have changed. */
  readonly #again = new Set<string>();
  /** Names to be sent, or said to be gone, though they may not have changed. */
  readonly #confirm = new Set<string>();
  /** Names given up while a push of them was on its way: if they are wanted again, the peer may have them or not. */
  readonly #givenUp = new Set<string>();
  readonly #renewals = new Renewals();
  #all: Collection | undefined;
  #told: Readonly<Record<string, string>> | undefined;
  #cameBack = false;
  /** Whether what the peer holds is not known, so that it gets a full push. */
  #fresh = false;
  /** Whether an answer is due though nothing may have changed. */
  #due = false;
  /** How often the type was asked for anew. */
  #openings = 0;
  #pending: Pending | undefined;
  #lastNonce: string | undefined;
  #sentVersion: string | undefined;
  #ackedVersion: string | undefined;
  #lastNack: string | undefined;
  #acks = 0;
  #nacks = 0;

  constructor(type: string, served: ServedType, traits: PeerTraits) {
    this.type = type;
    this.served = served;
    this.interest = new Interest({ nothing: served.nothing, wildcardAllowed: served.wildcard });
    this.#traits = traits;
  }

  /** The nonce of the last push; undefined before the first. */
  get lastNonce(): string | undefined {
    return this.#lastNonce;
  }

  /** The nonce of the push that waits for its ACK. */
  get pendingNonce(): string | undefined {
    return this.#pending?.nonce;
  }

  /** What the peer accepted last, if anything. */
  get accepted(): Collection | undefined {
    return this.#parking.accepted;
  }

  /** Whether the peer said that it held something on an earlier stream. */
  get cameBack(): boolean {
    return this.#cameBack;
  }

  /** What the peer says that it held on an earlier stream, until a push took that into account. */
  get told(): Readonly<Record<string, string>> | undefined {
    return this.#told;
  }

  /** Whether the peer asks for this resource and has it, in whichever form: it accepted it, also where it had to be sent again, and no push that waits takes it away. */
  has(name: string): boolean {
    if (!this.interest.has(name) || this.#renewals.has(name)) return false;
    const held = this.accepted?.get(name);
    if (held === undefined || isInDoubt(held)) return false;
    return this.#pending === undefined || this.#pending.sent.get(name) !== undefined;
  }

  /** Whether it is sure that the peer has all of this. */
  isWhole(all: Collection): boolean {
    if (this.#pending !== undefined || this.#fresh || this.#renewals.any) return false;
    return this.accepted?.version === all.version;
  }

  /** Whether the peer accepted just what it asks for, where this is all there is. */
  isAt(all: Collection): boolean {
    if (this.interest.nothing) return true;
    if (this.#pending !== undefined || this.#fresh || this.#told !== undefined) return false;
    return this.accepted?.version === this.#select(all).version;
  }

  /** Number of names that {@link confirm} was asked for and that were not sent yet. */
  get confirming(): number {
    return this.#confirm.size;
  }

  /** The peer starts anew, and nothing is known of what it holds: it is answered in full. */
  reopen(): void {
    this.#pending = undefined;
    this.#told = undefined;
    this.#fresh = true;
    this.#openings++;
  }

  /** The peer starts with nothing: it gets what it asks for as a difference from that. */
  startEmpty(): void {
    this.#parking.told(this.served.nothing);
  }

  /** An answer is due, even an empty one. */
  demand(): void {
    this.#due = true;
  }

  /** The peer says what it holds (`initial_resource_versions`); an empty map says nothing. */
  tell(versions: Readonly<Record<string, string>>): void {
    if (Object.keys(versions).length === 0) return;
    this.#told = versions;
    this.#cameBack = true;
  }

  /** Sends a name, if it is there, although the peer may have it. */
  sendAgain(name: string): void {
    this.#again.add(name);
  }

  /** Sends a name, or says that it is gone, although the peer may know. */
  confirm(name: string): void {
    this.#confirm.add(name);
  }

  /** Resources of these names changed in a type that this one follows. */
  renew(names: Iterable<string>): void {
    for (const name of names) {
      // What is not there would make an empty answer, which an Envoy that names nothing any more leaves unanswered.
      if (!this.interest.has(name) || this.#all?.get(name) === undefined) continue;
      this.#renewals.add(name);
      if (this.incremental) this.sendAgain(name);
      else this.demand();
    }
  }

  /** Forgets what the peer no longer asks for, so that it is sent when it is asked for again. */
  restrict(): void {
    const restrict = (collection: Collection) => this.interest.restrict(collection);
    this.#parking.restrict(restrict);
    this.#renewals.restrict(this.interest);
    if (this.#told !== undefined) {
      const told = Object.entries(this.#told).filter(([name]) => this.interest.has(name));
      this.#told = Object.fromEntries(told);
    }
    for (const names of [this.#again, this.#confirm]) {
      for (const name of names) if (!this.interest.has(name)) names.delete(name);
    }
    if (this.#pending !== undefined) {
      const { target, collection } = this.#pending.proposal;
      const rest = restrict(target);
      const offered = collection === target ? rest : restrict(collection);
      for (const name of offered.diff(collection).removed) this.#givenUp.add(name);
      const proposal = { target: rest, collection: offered };
      this.#pending = { ...this.#pending, proposal };
    }
    this.interest.restricted();
  }

  /** Takes all there is of this type now, if that is known; true if it may give a push. */
  retarget(all: Collection | undefined): boolean {
    const before = this.#all;
    if (all === undefined || before === all) return false;
    this.#all = all;
    return before?.version !== all.version;
  }

  /** The peer answered the pending push: with `error` it refused it, whatever the error's code. */
  settle(error: Status | undefined): Event {
    const pending = this.#pending!;
    this.#pending = undefined;
    for (const name of this.#givenUp) if (!this.interest.has(name)) this.#givenUp.delete(name);
    if (error !== undefined) return this.#refused(error, pending);
    const { nonce, proposal, sent: { version } } = pending;
    this.#parking.accept(proposal);
    this.#renewals.accepted(nonce);
    this.#fresh = false;
    this.#acks++;
    this.#ackedVersion = version;
    return { kind: "ack", type: this.type, nonce, version, collection: proposal.collection };
  }

  /** The next push under this nonce, if one is due; it counts as sent. */
  push(nonce: string): Push | undefined {
    if (this.#pending !== undefined || this.#all === undefined) return undefined;
    if (this.interest.nothing) {
      this.#due = false;
      return undefined;
    }
    const target = this.#select(this.#all);
    this.#believe(target);
    // A difference can be sent only from something that the peer is known to hold.
    const base = this.incremental && !this.#fresh ? this.#parking.accepted : undefined;
    const proposal = this.#parking.propose(target, base === undefined);
    if (proposal === undefined) return undefined;
    const content = base === undefined ? this.#full(proposal) : this.#delta(proposal, base);
    for (const names of [this.#again, this.#confirm, this.#givenUp]) names.clear();
    if (content === undefined) return undefined;
    this.#due = false;
    const { collection: sent, collection: { version } } = proposal;
    this.#renewals.sent(nonce, sent);
    const accepted = this.#parking.accepted ?? this.served.nothing;
    this.#pending = { nonce, proposal, sent, accepted };
    this.#lastNonce = nonce;
    this.#sentVersion = version;
    return { type: this.type, nonce, version, content };
  }

  /** What is known of this subscription. */
  status(): SubscriptionStatus {
    return {
      type: this.type,
      ...(this.interest.wildcard ? {} : { names: this.interest.names.size }),
      ...(this.#sentVersion === undefined ? {} : { sentVersion: this.#sentVersion }),
      ...(this.#ackedVersion === undefined ? {} : { ackedVersion: this.#ackedVersion }),
      pending: this.#pending !== undefined,
      acks: this.#acks,
      nacks: this.#nacks,
      ...(this.#lastNack === undefined ? {} : { lastNack: this.#lastNack }),
      parked: this.#parking.size,
    };
  }

  /** What the peer asks for of all there is, in the form in which it can take it. */
  #select(all: Collection): Collection {
    const { interest, served } = this;
    return shaped(interest.select(all), served, interest.names, this.#openings);
  }

  #refused(error: Status, { nonce, proposal, sent, accepted }: Pending): Event {
    const { type } = this;
    const message = error.message.slice(0, MESSAGE_KEPT);
    const diff = sent.diff(accepted);
    const names = diff.changed.slice(0, NAMES_SHOWN).map((resource) => resource.name);
    const bad = named(error.message, diff);
    this.#parking.refuse(proposal, diff, bad);
    // A client of xDS takes what it does not name, and of these types it is asked for all there is.
    const tookRest = this.#traits.partial && this.served.xds !== undefined && this.served.wildcard;
    if (tookRest && !this.#parking.isKnown && bad.length > 0) {
      this.#parking.believe(proposal.collection, bad);
      this.#fresh = false;
    }
    this.#nacks++;
    this.#lastNack = message;
    return { kind: "nack", type, nonce, version: sent.version, code: error.code, message, names };
  }

  /** Compares what the peer said that it holds with what it ought to have. */
  #believe(target: Collection): void {
    if (this.#told === undefined) return;
    const held = heldCollection(this.#told, target, this.interest);
    this.#told = undefined;
    this.#parking.told(held);
    if (held === target) this.#ackedVersion = held.version;
    if (this.incremental && this.#fresh) this.#due = true;
    this.#fresh = false;
  }

  #full(proposal: Proposal): Content | undefined {
    const { collection, retried } = proposal;
    const content: Content = { kind: "full", collection };
    const uncertain = retried !== undefined && this.#traits.partial;
    const { accepted } = this.#parking;
    if (this.#fresh || this.#due || uncertain || accepted === undefined) return content;
    if (collection.version === accepted.version) return undefined;
    if (this.served.complete || collection.diff(accepted).changed.length > 0) return content;
    // Silence says nothing here, so this would not either; nor is it sure to be answered.
    this.#parking.accept(proposal);
    return undefined;
  }

  #delta({ collection, retried }: Proposal, accepted: Collection): Content | undefined {
    const base = this.#doubt(accepted, collection, retried);
    if (base === accepted && base.version === collection.version && !this.#due) return undefined;
    const diff = collection.diff(base);
    const empty = diff.changed.length === 0 && diff.removed.length === 0;
    return empty && !this.#due ? undefined : { kind: "delta", diff };
  }

  /** The accepted collection with those resources made unlike any that must be sent although they may not have changed. */
  #doubt(accepted: Collection, collection: Collection, retried: Proposal["retried"]): Collection {
    const names = [...this.#confirm, ...this.#givenUp];
    for (const name of this.#again) if (accepted.get(name) !== undefined) names.push(name);
    if (retried !== undefined && this.#traits.partial) {
      names.push(...retried.changed.map((r) => r.name), ...retried.removed);
    }
    return doubted(accepted, names, collection);
  }
}
