/**
 * A model of a proxyless gRPC client (protocols.md section 5): it names what it wants, from its listener
 * to the endpoints, and goes over to new routes once it has all that they lead to. Contents are told by
 * versions as of the model Envoy.
 */
import { assert, assertEquals } from "@std/assert";
import { XDS_TYPES, xdsType, xdsTypeByUrl, type XdsTypeName } from "../../lib/model/xds_type.ts";
import type { Push } from "../../lib/protocol/stream.ts";
import type { DiscoveryRequest } from "../../lib/wire/messages.ts";
import type { Config } from "./envoy_world.ts";
import { contentOf } from "./model_envoy.ts";
import { applied } from "./model_peers.ts";

const NODE = { id: "model", userAgentName: "gRPC Go" } as never;
const REFUSAL = { errorDetail: { code: 3, message: "refused by the model", details: [] } };

/** From the listener on, each type is named by the one before. */
const ORDER: readonly XdsTypeName[] = [
  "RouteConfiguration",
  "Cluster",
  "ClusterLoadAssignment",
];

/** The model. Its listener is `l`. */
export class ModelGrpc {
  readonly #versions = new Map<XdsTypeName, Map<string, string>>();
  readonly #asked = new Map<XdsTypeName, readonly string[]>();
  readonly #nonces = new Map<XdsTypeName, string>();
  /** Clusters that calls go to. */
  #current: readonly string[] = [];

  constructor() {
    for (const { name } of XDS_TYPES) this.#versions.set(name, new Map());
  }

  /** Newest accepted versions of a type. */
  versions(type: XdsTypeName): ReadonlyMap<string, string> {
    return this.#versions.get(type)!;
  }

  /** A new stream: what it asks for first. */
  connect(): DiscoveryRequest[] {
    this.#asked.clear();
    this.#nonces.clear();
    return [this.#ask("Listener", ["l"]), ...this.#names()];
  }

  /** Takes a push, or refuses it as a whole; gives what it sends then. */
  take(push: Push, accept: boolean): DiscoveryRequest[] {
    const { name, wildcard } = xdsTypeByUrl(push.type)!;
    this.#nonces.set(name, push.nonce);
    if (accept) {
      const next = applied(push, this.versions(name), wildcard);
      const wanted = this.#asked.get(name) ?? [];
      this.#versions.set(name, new Map([...next].filter(([one]) => wanted.includes(one))));
      this.#switch();
    }
    return [this.#request(name, accept), ...this.#names()];
  }

  /** Why a call that is made now would fail, if one would; other than for want of a cluster that is `excused`. */
  failure(excused: ReadonlySet<string>): string | undefined {
    const gone = this.#current.find((name) => !this.#isReady(name) && !excused.has(name));
    return gone === undefined ? undefined : `calls go to ${gone}, which is gone`;
  }

  /** Whether it has just what it asks for of this. */
  isAt(config: Config): boolean {
    return this.#routes().length > 0 &&
      XDS_TYPES.every(({ name, shortName }) =>
        (this.#asked.get(name) ?? []).every((one) =>
          this.versions(name).get(one) === config[shortName][one]
        )
      );
  }

  /** Fails unless calls go where they should. */
  checkRest(config: Config): void {
    assert(this.isAt(config), "it holds other content than it asked for");
    const routes = config.RDS[contentOf(config.LDS["l"]!)]!;
    assertEquals([...this.#current].sort(), contentOf(routes).split("+").sort());
    assertEquals([...this.#asked.get("Cluster")!].sort(), [...this.#current].sort());
  }

  /** Goes over to the newest routes as soon as they lead somewhere. */
  #switch(): void {
    const routes = this.#routes();
    if (routes.length > 0 && routes.every((name) => this.#isReady(name))) this.#current = routes;
  }

  #isReady(cluster: string): boolean {
    const version = this.versions("Cluster").get(cluster);
    if (version === undefined) return false;
    return contentOf(version) === "dns" || this.versions("ClusterLoadAssignment").has(cluster);
  }

  /** Clusters of the newest routes. */
  #routes(): readonly string[] {
    const listener = this.versions("Listener").get("l");
    if (listener === undefined) return [];
    const routes = this.versions("RouteConfiguration").get(contentOf(listener));
    return routes === undefined ? [] : contentOf(routes).split("+");
  }

  #wanted(type: XdsTypeName): readonly string[] {
    const clusters = [...new Set([...this.#current, ...this.#routes()])].sort();
    switch (type) {
      case "RouteConfiguration":
        return [...this.versions("Listener").values()].map(contentOf);
      case "ClusterLoadAssignment":
        return clusters.filter((name) => {
          const version = this.versions("Cluster").get(name);
          return version !== undefined && contentOf(version) === "eds";
        });
      default:
        return clusters;
    }
  }

  /** Requests for names other than those asked for. */
  #names(): DiscoveryRequest[] {
    return ORDER.flatMap((type) => {
      const names = this.#wanted(type);
      const held = this.#versions.get(type)!;
      for (const name of held.keys()) if (!names.includes(name)) held.delete(name);
      return names.join() === (this.#asked.get(type) ?? []).join() ? [] : [this.#ask(type, names)];
    });
  }

  #ask(type: XdsTypeName, names: readonly string[]): DiscoveryRequest {
    this.#asked.set(type, names);
    return this.#request(type, true);
  }

  #request(type: XdsTypeName, accept: boolean): DiscoveryRequest {
    return {
      versionInfo: "",
      node: NODE,
      resourceNames: this.#asked.get(type) ?? [],
      typeUrl: xdsType(type).typeUrl,
      responseNonce: this.#nonces.get(type) ?? "",
      resourceLocators: [],
      ...(accept ? {} : REFUSAL),
    };
  }
}
