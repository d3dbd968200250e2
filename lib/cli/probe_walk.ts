/**
 * How clients of each kind ask: what they begin with, and which names follow from what they got
 * (protocols.md sections 4 to 6). Pure.
 *
 * @module
 */
import { xdsType, xdsTypeByUrl, type XdsTypeName } from "../model/xds_type.ts";
import type { AdsType } from "../protocol/ads_client.ts";
import type { ViewKind } from "../view/client_views.ts";
import type { ProbedPush } from "./probe_push.ts";
import { type ListenerPart, type References, referencesOf } from "./probe_references.ts";

/** Names that are asked for from now on, by type URL. */
export type Wanted = ReadonlyMap<string, readonly string[]>;

/** Which references a client follows, from what to what; in this order. */
const STEPS: Readonly<Record<ViewKind, readonly Step[]>> = {
  envoy: [
    { from: "Cluster", refers: "ClusterLoadAssignment", asks: "ClusterLoadAssignment" },
    { from: "Listener", refers: "RouteConfiguration", asks: "RouteConfiguration" },
  ],
  grpc: [
    { from: "Listener", refers: "RouteConfiguration", asks: "RouteConfiguration" },
    { from: "Listener", refers: "Cluster", asks: "Cluster" },
    { from: "RouteConfiguration", refers: "Cluster", asks: "Cluster" },
    { from: "Cluster", refers: "Cluster", asks: "Cluster" },
    { from: "Cluster", refers: "ClusterLoadAssignment", asks: "ClusterLoadAssignment" },
  ],
  // It knows no clusters: what its routes name it asks for as endpoints.
  dubbo: [
    { from: "Listener", refers: "RouteConfiguration", asks: "RouteConfiguration" },
    { from: "RouteConfiguration", refers: "Cluster", asks: "ClusterLoadAssignment" },
  ],
};

/** One way from what a client has to what it asks for. */
interface Step {
  readonly from: XdsTypeName;
  /** Of which type what it refers to says that it is. */
  readonly refers: XdsTypeName;
  /** As which type that is asked for. */
  readonly asks: XdsTypeName;
}

/** What each kind asks for without knowing a name. */
const WILDCARDS: Readonly<Record<ViewKind, readonly XdsTypeName[]>> = {
  envoy: ["Cluster", "Listener"],
  grpc: [],
  dubbo: ["Listener"],
};

/** How the walk begins. */
export interface WalkOptions {
  readonly as: ViewKind;
  /** Listeners to begin with; those of gRPC programs are asked for by name. */
  readonly targets: readonly string[];
}

/** One client's way through what it gets. */
export class ProbeWalk {
  readonly #steps: readonly Step[];
  readonly #wildcards: ReadonlySet<XdsTypeName>;
  readonly #targets: readonly string[];
  readonly #part: ListenerPart;
  /** Of each type, references of each resource held. */
  readonly #held = new Map<XdsTypeName, Map<string, References>>();

  constructor({ as, targets }: WalkOptions) {
    this.#steps = STEPS[as];
    this.#wildcards = new Set(WILDCARDS[as]);
    this.#targets = targets;
    this.#part = as === "grpc" ? "api_listener" : "filter chains";
  }

  /** Every type that such a client asks for, in its order; those whose names are not known yet with none. */
  get types(): readonly AdsType[] {
    const first = [...this.#wildcards, ...(this.#targets.length > 0 ? ["Listener" as const] : [])];
    const names = new Set([...first, ...this.#steps.map(({ asks }) => asks)]);
    return Array.from(names, (name) => {
      const { typeUrl } = xdsType(name);
      if (this.#wildcards.has(name)) return { typeUrl };
      return { typeUrl, names: name === "Listener" ? this.#targets : [] };
    });
  }

  /** Takes what was accepted; gives the names that are asked for from then on, of every type that is by name. */
  take({ type, incremental, resources, removed }: ProbedPush): Wanted {
    const known = xdsTypeByUrl(type);
    if (known !== undefined) {
      const { name, wildcard } = known;
      // A whole answer says by silence what is gone; of types that are asked for by name only it does not.
      const held = !incremental && wildcard ? undefined : this.#held.get(name);
      const now = held ?? new Map<string, References>();
      for (const { name: key, content } of resources) {
        now.set(key, content.kind === "any" ? referencesOf(content.any, this.#part) : {});
      }
      for (const key of removed) now.delete(key);
      this.#held.set(name, now);
    }
    return this.#wanted();
  }

  #wanted(): Wanted {
    const wanted = new Map<XdsTypeName, Set<string>>(
      this.#steps.map(({ asks }) => [asks, new Set()]),
    );
    for (const step of this.#steps) {
      if (!this.#wildcards.has(step.asks)) this.#follow(step, wanted);
    }
    for (const [name, held] of this.#held) {
      const names = wanted.get(name);
      if (names === undefined || this.#wildcards.has(name)) continue;
      for (const key of held.keys()) if (!names.has(key)) held.delete(key);
    }
    const byName = [...wanted].filter(([name]) => !this.#wildcards.has(name));
    return new Map(byName.map(([name, names]) => [xdsType(name).typeUrl, [...names]]));
  }

  #follow({ from, refers, asks }: Step, wanted: ReadonlyMap<XdsTypeName, Set<string>>): void {
    const held = this.#held.get(from) ?? new Map<string, References>();
    const found = wanted.get(asks)!;
    // A set that grows while it is gone through shows what is added: clusters of clusters of clusters.
    const sources = this.#wildcards.has(from) || !wanted.has(from)
      ? held.keys()
      : wanted.get(from)!;
    for (const key of sources) {
      for (const name of held.get(key)?.[refers] ?? []) found.add(name);
    }
  }
}
