/**
 * Model clients: what a correct client of each protocol holds, and what it sends. They know the
 * protocols' rules for clients and nothing of how the state machines work.
 */
import type { Push } from "../../lib/protocol/stream.ts";
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
  RequestResources,
} from "../../lib/wire/messages.ts";

/** What a client asks for of one type. */
export interface Wanted {
  readonly all: boolean;
  readonly names: readonly string[];
}

/** Rules of a type, as the client knows them. */
export interface TypeRules {
  readonly type: string;
  /** Whether a name that a full push leaves out is gone. */
  readonly complete: boolean;
}

/** One type on the client's side. Requests are made against its newest knowledge. */
export interface ModelPeer<Request> {
  readonly type: string;
  readonly held: ReadonlyMap<string, string>;
  /** Counts changes of what it asks for. */
  readonly epoch: number;
  readonly wanted: Wanted;
  /** A new stream: the first request, if there is anything to ask for. */
  connect(versions: boolean): Request | undefined;
  /** Applies a push, or refuses it; gives the answer. */
  take(push: Push, accept: boolean): Request;
  /** Asks for something else; nothing if the protocol has no names. */
  rename(wanted: Wanted): Request | undefined;
  /** Starts the type anew on the live stream; nothing if the protocol has no such request. */
  reopen(versions: boolean): Request | undefined;
  /** A request with the nonce of an earlier push, or nothing. */
  stale(): Request | undefined;
  /** Goes over to incremental pushes, or back to full ones. */
  flip(): void;
  wants(name: string): boolean;
}

const NODE = { id: "model" };
const REFUSAL = { errorDetail: { code: 3, message: "refused by the model", details: [] } };

/** What a push would make of `held`. */
export function applied(push: Push, held: ReadonlyMap<string, string>, complete: boolean) {
  const { content } = push;
  const full = content.kind === "full";
  const next = new Map(full && complete ? [] : held);
  if (!full) { for (const name of content.diff.removed) next.delete(name); }
  for (const { name, version } of full ? content.collection : content.diff.changed) {
    next.set(name, version);
  }
  return next;
}

abstract class Peer<Request> implements ModelPeer<Request> {
  readonly type: string;
  readonly complete: boolean;
  held = new Map<string, string>();
  wanted: Wanted;
  epoch = 0;
  nonces: string[] = [];
  /** Whether it takes the sound part of what it refuses, as Envoy does. */
  readonly partial: boolean;
  readonly poison: (name: string, version: string) => boolean;

  constructor({ type, complete }: TypeRules, wanted: Wanted, options: PeerOptions = {}) {
    this.type = type;
    this.complete = complete;
    this.wanted = wanted;
    this.partial = options.partial ?? false;
    this.poison = options.poison ?? (() => false);
  }

  abstract connect(versions: boolean): Request | undefined;
  abstract answer(nonce: string, accept: boolean): Request;
  abstract rename(wanted: Wanted): Request | undefined;
  abstract reopen(versions: boolean): Request | undefined;

  take(push: Push, accept: boolean): Request {
    this.nonces.push(push.nonce);
    const next = applied(push, this.held, this.complete);
    if (accept) this.held = next;
    else if (this.partial) {
      for (const [name, version] of next) {
        if (!this.poison(name, version)) this.held.set(name, version);
      }
      for (const name of [...this.held.keys()]) if (!next.has(name)) this.held.delete(name);
    }
    this.forget();
    return this.answer(push.nonce, accept);
  }

  stale(): Request | undefined {
    const old = this.nonces.at(-2);
    return old === undefined ? undefined : this.answer(old, this.nonces.length % 3 !== 0);
  }

  flip(): void {}

  wants(name: string): boolean {
    return this.wanted.all || this.wanted.names.includes(name);
  }

  forget(): void {
    for (const name of [...this.held.keys()]) if (!this.wants(name)) this.held.delete(name);
  }
}

/** How a model client refuses. */
export interface PeerOptions {
  readonly partial?: boolean;
  readonly poison?: (name: string, version: string) => boolean;
}

/** A state-of-the-world xDS client. */
export class SotwPeer extends Peer<DiscoveryRequest> {
  #explicit = false;

  connect(versions: boolean): DiscoveryRequest | undefined {
    // On a new stream an old nonce is as good as none.
    const nonce = versions ? this.nonces.at(-1) ?? "" : "";
    this.nonces = [];
    this.#explicit = false;
    if (!this.wanted.all && this.wanted.names.length === 0) return undefined;
    return this.#request(nonce, true);
  }

  answer(nonce: string, accept: boolean): DiscoveryRequest {
    return this.#request(nonce, accept);
  }

  rename(wanted: Wanted): DiscoveryRequest | undefined {
    // As long as no names were given, an empty list asks for everything: "nothing" cannot be said.
    if (!this.#explicit && !wanted.all && wanted.names.length === 0) return undefined;
    this.wanted = wanted;
    this.epoch++;
    this.forget();
    return this.#request(this.nonces.at(-1) ?? "", true);
  }

  reopen(): DiscoveryRequest | undefined {
    if (!this.wanted.all && this.wanted.names.length === 0) return undefined;
    return this.#request("", true);
  }

  #request(responseNonce: string, accept: boolean): DiscoveryRequest {
    const { all, names } = this.wanted;
    const resourceNames = all && (this.#explicit || names.length > 0) ? ["*", ...names] : names;
    if (resourceNames.length > 0) this.#explicit = true;
    const request = { versionInfo: "", node: { ...NODE } as never, resourceLocators: [] };
    const full = { ...request, resourceNames, typeUrl: this.type, responseNonce };
    return accept ? full : { ...full, ...REFUSAL };
  }
}

/** A delta xDS client. */
export class DeltaPeer extends Peer<DeltaDiscoveryRequest> {
  connect(versions: boolean): DeltaDiscoveryRequest | undefined {
    this.nonces = [];
    if (!versions) this.held.clear();
    const { all, names } = this.wanted;
    if (!all && names.length === 0) return undefined;
    return this.#request({
      resourceNamesSubscribe: all && names.length > 0 ? ["*", ...names] : names,
      initialResourceVersions: Object.fromEntries(this.held),
    });
  }

  answer(responseNonce: string, accept: boolean): DeltaDiscoveryRequest {
    return this.#request(accept ? { responseNonce } : { responseNonce, ...REFUSAL });
  }

  rename(wanted: Wanted): DeltaDiscoveryRequest | undefined {
    const before = this.wanted;
    this.wanted = wanted;
    this.epoch++;
    this.forget();
    const [had, has] = [listed(before), listed(wanted)];
    return this.#request({
      resourceNamesSubscribe: has.filter((name) => !had.includes(name)),
      resourceNamesUnsubscribe: had.filter((name) => !has.includes(name)),
      responseNonce: this.epoch % 2 === 0 ? "" : this.nonces.at(-2) ?? "",
    });
  }

  reopen(): undefined {
    return undefined;
  }

  #request(parts: Partial<DeltaDiscoveryRequest>): DeltaDiscoveryRequest {
    return {
      node: { ...NODE } as never,
      typeUrl: this.type,
      resourceNamesSubscribe: [],
      resourceNamesUnsubscribe: [],
      initialResourceVersions: {},
      responseNonce: "",
      resourceLocatorsSubscribe: [],
      resourceLocatorsUnsubscribe: [],
      ...parts,
    };
  }
}

/** An MCP v1alpha1 sink. */
export class McpPeer extends Peer<RequestResources> {
  incremental: boolean;

  constructor(type: string, incremental: boolean, options: PeerOptions = {}) {
    super({ type, complete: true }, { all: true, names: [] }, options);
    this.incremental = incremental;
  }

  connect(versions: boolean): RequestResources {
    this.nonces = [];
    return this.#request("", true, versions);
  }

  answer(nonce: string, accept: boolean): RequestResources {
    return this.#request(nonce, accept, false);
  }

  rename(): undefined {
    return undefined;
  }

  reopen(versions: boolean): RequestResources {
    return this.#request("", true, versions);
  }

  override flip(): void {
    this.incremental = !this.incremental;
  }

  #request(responseNonce: string, accept: boolean, versions: boolean): RequestResources {
    return {
      collection: this.type,
      initialResourceVersions: versions ? Object.fromEntries(this.held) : {},
      responseNonce,
      incremental: this.incremental,
      ...(accept ? {} : REFUSAL),
    };
  }
}

function listed({ all, names }: Wanted): string[] {
  return all ? ["*", ...names] : [...names];
}
