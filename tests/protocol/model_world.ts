/**
 * A world for model tests: a state machine, a model client and a network between them that delivers
 * late. Every step checks what must always hold; {@link World.settle} lets everything arrive.
 */
import { assert, assertEquals } from "@std/assert";
import type { Push, StreamMachine } from "../../lib/protocol/stream.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { collectionOf, snapshotOf } from "./fixtures.ts";
import { applied, type ModelPeer, type Wanted } from "./model_peers.ts";

/** Something that happens in the world. `kind` and `peer` are indices, taken modulo. */
export type Action =
  | {
    readonly do: "change";
    readonly kind: number;
    readonly name: string;
    readonly version: string | undefined;
  }
  | { readonly do: "write" }
  | { readonly do: "to client"; readonly accept: boolean }
  | { readonly do: "to server" }
  | { readonly do: "rename"; readonly peer: number; readonly wanted: Wanted }
  | { readonly do: "stale"; readonly peer: number }
  | { readonly do: "reopen"; readonly peer: number; readonly versions: boolean }
  | { readonly do: "flip"; readonly peer: number }
  | { readonly do: "reconnect"; readonly versions: boolean };

/** One type as the world runs it. */
export interface WorldType<Request> {
  /** Key in the snapshot's collections. */
  readonly kind: string;
  readonly complete: boolean;
  readonly peer: ModelPeer<Request>;
}

/** What a world is made of. */
export interface WorldOptions<Request> {
  readonly types: readonly WorldType<Request>[];
  readonly machine: (prefix: string) => StreamMachine<Request>;
  readonly typeOf: (request: Request) => string;
  readonly nonceOf: (request: Request) => string;
  /** Whether the model client accepts a push, given what the schedule says. */
  readonly accepts?: (push: Push, said: boolean) => boolean;
  /** Whether an empty nonce starts a type anew; else it answers nothing. */
  readonly reopens: boolean;
  /** Whether a client that refuses keeps exactly what it had. */
  readonly strict: boolean;
}

/** What a client refused: the version, and the state it would have held. */
interface Refusal {
  readonly version: string;
  readonly state: ReadonlyMap<string, string>;
}

/** Steps after which a world must have come to rest. */
const PATIENCE = 2000;

export class World<Request> {
  readonly #options: WorldOptions<Request>;
  readonly #contents: Record<string, Record<string, string>> = {};
  #snapshot: Snapshot;
  #machine: StreamMachine<Request>;
  #streams = 0;
  #toServer: { request: Request; type: WorldType<Request>; epoch: number }[] = [];
  #toClient: { push: Push; type: WorldType<Request>; epoch: number }[] = [];
  /** By type: the nonce that the server waits for, what was refused on this stream, the newest epoch it heard. */
  readonly #waiting = new Map<string, string>();
  #refused = new Map<string, Refusal[]>();
  /** By nonce: refusals that the server has not heard of. */
  readonly #refusals = new Map<string, Refusal>();
  readonly #heard = new Map<string, number>();
  #opened = new Set<string>();
  /** By type: the request until whose arrival the client does not look at pushes. */
  readonly #ignoring = new Map<string, Request>();
  pushes = 0;

  constructor(options: WorldOptions<Request>) {
    this.#options = options;
    for (const { kind } of options.types) this.#contents[kind] = {};
    this.#snapshot = snapshotOf(this.#contents);
    this.#machine = this.#connect(false);
  }

  get kinds(): readonly string[] {
    return this.#options.types.map(({ kind }) => kind);
  }

  step(action: Action): void {
    const { types } = this.#options;
    switch (action.do) {
      case "change":
        return this.publish(types[action.kind % types.length]!.kind, action.name, action.version);
      case "write":
        return this.#write();
      case "to client":
        return this.#toTheClient(action.accept);
      case "to server":
        return this.#toTheServer();
      case "reconnect":
        this.#machine = this.#connect(action.versions);
        return;
    }
    const type = types[action.peer % types.length]!;
    switch (action.do) {
      case "rename":
        return this.#rename(type, action.wanted);
      case "stale":
        return this.#send(type, type.peer.stale());
      case "flip":
        return type.peer.flip();
      case "reopen":
        return this.#reopen(type, action.versions);
    }
  }

  publish(kind: string, name: string, version: string | undefined): void {
    const contents = this.#contents[kind]!;
    if (version === undefined) delete contents[name];
    else contents[name] = version;
    this.#snapshot = snapshotOf(this.#contents, this.#snapshot);
    this.#machine.retarget(this.#snapshot);
  }

  /** Lets everything arrive and be accepted, as far as the model client accepts it. */
  settle(): void {
    for (let steps = 0; steps < PATIENCE; steps++) {
      const before = this.pushes;
      this.#write();
      const wrote = this.pushes !== before;
      const moved = this.#toClient.length > 0 || this.#toServer.length > 0;
      this.#toTheClient(true);
      this.#toTheServer();
      if (!wrote && !moved) return;
    }
    throw new Error(`not at rest after ${PATIENCE} steps`);
  }

  /** Each client must hold the newest state, but for what it refused. */
  checkHeld(): void {
    for (const type of this.#options.types) {
      const { peer, complete } = type;
      if (!this.#opened.has(peer.type)) continue;
      const target = this.#contents[type.kind]!;
      const refused = this.#refused.get(peer.type) ?? [];
      for (const name of new Set([...Object.keys(target), ...peer.held.keys()])) {
        if (!peer.wants(name) || peer.held.get(name) === target[name]) continue;
        // A type that is not complete cannot say that something is gone.
        if (!complete && target[name] === undefined) continue;
        assert(
          refused.some(({ state }) => state.get(name) === target[name]),
          `${peer.type} ${name}: holds ${peer.held.get(name)}, newest is ${target[name]}`,
        );
      }
    }
  }

  /** Each client must hold exactly the newest state. */
  checkExact(): void {
    for (const { kind, peer } of this.#options.types) {
      if (!this.#opened.has(peer.type)) continue;
      const wanted = Object.entries(this.#contents[kind]!).filter(([name]) => peer.wants(name));
      const held = [...peer.held].filter(([name]) => peer.wants(name));
      assertEquals(held.sort(), wanted.sort(), peer.type);
    }
  }

  #connect(versions: boolean): StreamMachine<Request> {
    const machine = this.#options.machine(`s${++this.#streams}-`);
    machine.retarget(this.#snapshot);
    this.#toServer = [];
    this.#toClient = [];
    this.#waiting.clear();
    this.#ignoring.clear();
    this.#refused = new Map();
    this.#opened = new Set();
    for (const type of this.#options.types) this.#send(type, type.peer.connect(versions));
    return machine;
  }

  #rename(type: WorldType<Request>, wanted: Wanted): void {
    if (!this.#opened.has(type.peer.type)) return;
    this.#send(type, type.peer.rename(wanted));
  }

  /** A client that starts anew on a live stream no longer looks at what was on its way. */
  #reopen(type: WorldType<Request>, versions: boolean): void {
    const request = type.peer.reopen(versions);
    if (request === undefined) return;
    this.#toClient = this.#toClient.filter((item) => item.type !== type);
    this.#send(type, request);
    // What the server writes before it hears of it is not looked at either.
    this.#ignoring.set(type.peer.type, request);
  }

  #send(type: WorldType<Request>, request: Request | undefined): void {
    if (request === undefined) return;
    this.#opened.add(type.peer.type);
    this.#toServer.push({ request, type, epoch: type.peer.epoch });
  }

  #toTheServer(): void {
    const item = this.#toServer.shift();
    if (item === undefined) return;
    const received = this.#machine.receive(item.request);
    assert(received.ok, received.ok ? "" : received.message);
    const type = this.#options.typeOf(item.request);
    const nonce = this.#options.nonceOf(item.request);
    // The answer, or an opening anew: the server waits no longer.
    if (nonce === this.#waiting.get(type) || (nonce === "" && this.#options.reopens)) {
      this.#waiting.delete(type);
    }
    if (this.#ignoring.get(type) === item.request) this.#ignoring.delete(type);
    for (const event of received.events) {
      if (event.kind === "ack" || event.kind === "nack") assertEquals(event.nonce, nonce);
      if (event.kind === "nack") {
        const refusal = this.#refusals.get(nonce)!;
        assertEquals(event.version, refusal.version);
        this.#refused.set(type, [...this.#refused.get(type) ?? [], refusal]);
      }
    }
    // Where a request may open a type anew, one with an old nonce is not heard at all.
    const isStale = received.events.some(({ kind }) => kind === "stale");
    if (!(isStale && this.#options.reopens)) this.#heard.set(type, item.epoch);
  }

  #write(): void {
    const push = this.#machine.next();
    if (push === undefined) return;
    this.pushes++;
    assert(
      !this.#waiting.has(push.type),
      `${push.type}: a second push without an ACK of the first`,
    );
    this.#waiting.set(push.type, push.nonce);
    const refused = this.#refused.get(push.type) ?? [];
    assert(!refused.some(({ version }) => version === push.version), "sends what was refused");
    this.#checkPayload(push);
    const type = this.#options.types.find(({ peer }) => peer.type === push.type)!;
    if (this.#ignoring.has(push.type)) return;
    this.#toClient.push({ push, type, epoch: this.#heard.get(push.type) ?? 0 });
  }

  #checkPayload({ content }: Push): void {
    const resources = content.kind === "full" ? [...content.collection] : content.diff.changed;
    for (const { name, version, bytes } of resources) {
      assertEquals(new TextDecoder().decode(bytes), `${name}@${version}`);
    }
  }

  #toTheClient(said: boolean): void {
    const item = this.#toClient.shift();
    if (item === undefined) return;
    const { push, type: { peer, complete } } = item;
    const accept = (this.#options.accepts?.(push, said) ?? said) || sendsAgain(push, peer.held);
    const state = applied(push, peer.held, complete);
    const answer = peer.take(push, accept);
    if (!accept) {
      this.#refusals.set(push.nonce, { version: push.version, state });
    } else if (this.#options.strict && complete && item.epoch === peer.epoch) {
      const held = collectionOf(Object.fromEntries(peer.held));
      assertEquals(held.version, push.version, "the client holds another state than the push says");
    }
    this.#send(item.type, answer);
  }
}

/** Whether a difference holds anything that the client has in that very form: it has no reason to refuse that. */
function sendsAgain({ content }: Push, held: ReadonlyMap<string, string>): boolean {
  return content.kind === "delta" &&
    content.diff.changed.some(({ name, version }) => held.get(name) === version);
}
