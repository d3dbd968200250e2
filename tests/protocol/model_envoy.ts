/**
 * A model Envoy: what it holds, what it warms, and what it asks for (protocols.md section 4). It knows
 * nothing of how the state machines work. Contents are told by versions: of a cluster `eds#1` or
 * `dns#1`, of a listener the name of its routes, `r#1`, of routes their clusters, `a+b#1`.
 */
import { assert, assertEquals } from "@std/assert";
import { XDS_TYPES, xdsTypeByUrl, type XdsTypeName } from "../../lib/model/xds_type.ts";
import type { Push } from "../../lib/protocol/stream.ts";
import type { DeltaDiscoveryRequest, DiscoveryRequest } from "../../lib/wire/messages.ts";
import type { Config } from "./envoy_world.ts";
import { applied } from "./model_peers.ts";

/** A request, in the variant that the Envoy speaks. */
export type EnvoyRequest = DiscoveryRequest | DeltaDiscoveryRequest;

const NODE = { id: "model", userAgentName: "envoy" } as never;
const REFUSAL = { errorDetail: { code: 13, message: "refused by the model", details: [] } };

/** What a version says of its resource's content. */
export function contentOf(version: string): string {
  return version.slice(0, version.indexOf("#"));
}

/** One type as the Envoy sees it. */
interface Held {
  readonly url: string;
  readonly complete: boolean;
  /** Newest accepted versions by name. */
  versions: Map<string, string>;
  /** Names asked for on this stream; undefined: nothing was asked yet. */
  asked: readonly string[] | undefined;
  nonce: string;
}

/** The model. */
export class ModelEnvoy {
  readonly #variant: "sotw" | "delta";
  readonly #types: Readonly<Record<XdsTypeName, Held>>;
  /** Clusters that requests can go to, with the version of each: those that wait for endpoints are not among them. */
  readonly active = new Map<string, string>();
  readonly warming = new Set<string>();
  /** Listeners that take connections, by name: the routes of each. */
  readonly serving = new Map<string, string>();
  #listening = false;

  constructor(variant: "sotw" | "delta") {
    this.#variant = variant;
    this.#types = Object.fromEntries(XDS_TYPES.map(({ name, typeUrl, wildcard }) => [name, {
      url: typeUrl,
      complete: wildcard,
      versions: new Map(),
      asked: undefined,
      nonce: "",
    }])) as never;
  }

  /** Newest accepted versions of a type. */
  versions(type: XdsTypeName): ReadonlyMap<string, string> {
    return this.#types[type].versions;
  }

  /** A new stream: what it asks for first. */
  connect(): EnvoyRequest[] {
    for (const held of Object.values(this.#types)) {
      held.asked = undefined;
      held.nonce = "";
    }
    const types: XdsTypeName[] = this.#listening ? ["Cluster", "Listener"] : ["Cluster"];
    return [...types.map((type) => this.#ask(this.#types[type], [])), ...this.#names()];
  }

  /** Takes a push, or refuses it as a whole; gives what it sends then. */
  take(push: Push, accept: boolean): EnvoyRequest[] {
    const type = xdsTypeByUrl(push.type)!.name;
    const held = this.#types[type];
    held.nonce = push.nonce;
    if (accept) {
      const before = held.versions;
      // Of endpoints and routes it keeps what is said to be gone, as long as it has use for it.
      const kept = held.complete ? [] : [...before];
      held.versions = new Map([...kept, ...applied(push, before, held.complete)]);
      this.#apply(type, before, push);
    }
    const answers = [this.#answer(held, accept), ...this.#names()];
    if (!this.#listening && this.warming.size === 0) {
      this.#listening = true;
      answers.push(this.#ask(this.#types.Listener, []));
    }
    return answers;
  }

  /** Why a request that comes in now would fail, if one would; other than for want of a cluster that is `excused`. */
  failure(excused: ReadonlySet<string>): string | undefined {
    for (const [listener, routes] of this.serving) {
      const version = this.versions("RouteConfiguration").get(routes);
      if (version === undefined) {
        return `${listener} takes connections without its routes ${routes}`;
      }
      for (const cluster of contentOf(version).split("+")) {
        if (!this.active.has(cluster) && !excused.has(cluster)) {
          const why = this.warming.has(cluster) ? "has no endpoints yet" : "is not there";
          return `${listener} routes to ${cluster}, which ${why}`;
        }
      }
    }
    return undefined;
  }

  /** Whether it has just this. */
  isAt(config: Config): boolean {
    return this.warming.size === 0 && XDS_TYPES.every(({ name, shortName }) => {
      const [held, wanted] = [this.versions(name), Object.entries(config[shortName])];
      return held.size === wanted.length && wanted.every(([key, v]) => held.get(key) === v);
    });
  }

  /** Fails unless it has just this and all of it is in use. */
  checkRest(config: Config): void {
    for (const { name, shortName } of XDS_TYPES) {
      const wanted = Object.entries(config[shortName]).sort();
      assertEquals([...this.versions(name)].sort(), wanted, shortName);
    }
    assertEquals([...this.warming], [], "clusters that wait for endpoints");
    const listeners = Object.entries(config.LDS).map(([name, v]) => [name, contentOf(v)]);
    assertEquals([...this.serving].sort(), listeners.sort());
  }

  #apply(type: XdsTypeName, before: ReadonlyMap<string, string>, push: Push): void {
    switch (type) {
      case "Cluster":
        return this.#warm(before);
      case "ClusterLoadAssignment":
        return this.#assign(push);
      case "Listener":
        for (const name of this.serving.keys()) {
          if (!this.versions("Listener").has(name)) this.serving.delete(name);
        }
    }
    this.#serve();
  }

  /** A cluster of which anything changed waits for its endpoints; the one before serves meanwhile. */
  #warm(before: ReadonlyMap<string, string>): void {
    const { versions } = this.#types.Cluster;
    for (const name of [...this.active.keys(), ...this.warming]) {
      if (versions.has(name)) continue;
      this.active.delete(name);
      this.warming.delete(name);
    }
    for (const [name, version] of versions) {
      if (before.get(name) === version) continue;
      if (contentOf(version) === "eds") this.warming.add(name);
      else {
        this.warming.delete(name);
        this.active.set(name, version);
      }
    }
  }

  #assign({ content }: Push): void {
    const sent = content.kind === "full" ? content.collection : content.diff.changed;
    for (const { name } of sent) {
      if (this.warming.delete(name)) this.active.set(name, this.versions("Cluster").get(name)!);
    }
  }

  /** A listener takes over once it has its routes. */
  #serve(): void {
    for (const [name, version] of this.versions("Listener")) {
      const routes = contentOf(version);
      if (this.versions("RouteConfiguration").has(routes)) this.serving.set(name, routes);
    }
  }

  /** Requests for endpoints and routes whose names are others than those asked for. */
  #names(): EnvoyRequest[] {
    const clusters = [...this.versions("Cluster")];
    const endpoints = clusters.filter(([, version]) => contentOf(version) === "eds");
    const listeners = [...this.versions("Listener").values()].map(contentOf);
    return [
      ...this.#named("ClusterLoadAssignment", endpoints.map(([name]) => name)),
      ...this.#named("RouteConfiguration", [...listeners, ...this.serving.values()]),
    ];
  }

  #named(type: XdsTypeName, wanted: readonly string[]): EnvoyRequest[] {
    const held = this.#types[type];
    const names = [...new Set(wanted)].sort();
    for (const name of held.versions.keys()) {
      if (!names.includes(name)) held.versions.delete(name);
    }
    if (names.join() === (held.asked ?? []).join()) return [];
    return [this.#ask(held, names)];
  }

  /** Asks for names, or for others than before. */
  #ask(held: Held, names: readonly string[]): EnvoyRequest {
    const before = held.asked ?? [];
    const first = held.asked === undefined;
    held.asked = names;
    if (this.#variant === "sotw") return this.#sotw(held, held.nonce, true);
    return this.#delta(held, {
      resourceNamesSubscribe: names.filter((name) => !before.includes(name)),
      resourceNamesUnsubscribe: before.filter((name) => !names.includes(name)),
      initialResourceVersions: first ? Object.fromEntries(held.versions) : {},
    });
  }

  #answer(held: Held, accept: boolean): EnvoyRequest {
    assert(held.nonce !== "");
    if (this.#variant === "sotw") return this.#sotw(held, held.nonce, accept);
    return this.#delta(held, { responseNonce: held.nonce, ...(accept ? {} : REFUSAL) });
  }

  #sotw({ url, asked }: Held, responseNonce: string, accept: boolean): DiscoveryRequest {
    return {
      versionInfo: "",
      node: NODE,
      resourceNames: asked ?? [],
      typeUrl: url,
      responseNonce,
      resourceLocators: [],
      ...(accept ? {} : REFUSAL),
    };
  }

  #delta({ url }: Held, parts: Partial<DeltaDiscoveryRequest>): DeltaDiscoveryRequest {
    return {
      node: NODE,
      typeUrl: url,
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
