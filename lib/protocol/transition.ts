/**
 * Make before break on one stream: a client must never hold a route to a cluster that it does not
 * have, or has no endpoints of. So where clusters come or go, or are still on their way, when routes
 * change, clusters and endpoints become the union of old and new first; routes and listeners follow
 * once the client has what is new; what is old goes once it has those.
 *
 * Pure: that a transition takes too long is told by whoever has a clock, with {@link Transition.expire}.
 *
 * @module
 */
import type { XdsTypeName } from "../model/xds_type.ts";
import { Collection } from "../snapshot/collection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { heldCollection } from "./held.ts";
import { isHeldBack, type Missing, missingClusters, NOTHING_MISSING } from "./missing.ts";
import { hasRoutes, isAt, isRouted, isSettled, routing, touches } from "./standing.ts";
import type { TransitionPhase } from "./stream.ts";
import type { Subscription } from "./subscription.ts";
import { nameChange, unionOf } from "./union.ts";
import {
  has,
  type IsQuiet,
  partsOf,
  sameParts,
  sameXds,
  type XdsParts,
  type XdsSubscriptions,
} from "./xds_parts.ts";

/** What must be there before routes lead to it. */
type Ground = Pick<XdsParts, "Cluster" | "ClusterLoadAssignment">;

/** Where a stream comes from. */
interface Origin {
  readonly parts: XdsParts;
  readonly missing: Missing;
  /** Whether the client held this on an earlier stream: then nothing is known of its routes and listeners. */
  readonly returning: boolean;
}

/** One stream on its way from one set of clusters to another. */
export class Transition {
  readonly #subscriptions: XdsSubscriptions;
  readonly #isQuiet: IsQuiet;
  /** What routes and listeners came from: its clusters are in place, but for those that are missing. */
  #base: XdsParts;
  #missing: Missing;
  /** Routes that the client asked for by then. */
  #asked: ReadonlySet<string>;
  /** Those of listeners and routes of which the client refused something before: it is not waited for. */
  #refusing: readonly Subscription[];
  /** What routes and listeners are at. */
  #routed: XdsParts;
  /** What they go to next, and what is newest: the next goal, or the goal itself. */
  #goal: XdsParts;
  #newest: XdsParts;
  /** Clusters and endpoints of all that the client may have routes of, the newest apart. */
  #kept: Ground;
  #over = false;
  #legs = 1;
  /** Whether the client comes back and has not got routes on this stream. */
  #returning: boolean;

  private constructor(
    subscriptions: XdsSubscriptions,
    isQuiet: IsQuiet,
    { parts, missing, returning }: Origin,
    after: XdsParts,
  ) {
    this.#subscriptions = subscriptions;
    this.#isQuiet = isQuiet;
    this.#missing = missing;
    this.#returning = returning;
    this.#asked = this.#askedRoutes();
    this.#base = this.#routed = parts;
    this.#refusing = returning ? [] : this.#refusals();
    this.#goal = this.#newest = after;
    this.#kept = parts;
  }

  /** The transition that the step from one snapshot to the next takes on a stream, if it takes one. */
  static between(
    subscriptions: XdsSubscriptions,
    isQuiet: IsQuiet,
    before: Snapshot,
    after: Snapshot,
  ): Transition | undefined {
    if (subscriptions.size < 2 || sameXds(before, after)) return undefined;
    const [old, target] = [partsOf(before), partsOf(after)];
    if (old === undefined || target === undefined) return undefined;
    if (!touches(subscriptions, old, target) || !hasRoutes(subscriptions)) return undefined;
    // A client that names its clusters may use one as long as it does so, whatever its routes say.
    const names = subscriptions.get("Cluster")?.interest.wildcard === false;
    if (!names && isRouted(subscriptions, target)) return undefined;
    const missing = missingClusters(subscriptions, isQuiet, old);
    return new Transition(
      subscriptions,
      isQuiet,
      { parts: old, missing, returning: false },
      target,
    );
  }

  /**
   * The transition of a client that asks for all clusters and said which it held on an earlier stream
   * (`initial_resource_versions`): its old routes lead to those, and until it has some on this stream
   * nothing else is known of them. `before`: what was there before on this stream, if anything was.
   */
  static ofReturning(
    subscriptions: XdsSubscriptions,
    isQuiet: IsQuiet,
    before: Snapshot | undefined,
    after: Snapshot,
  ): Transition | undefined {
    const clusters = subscriptions.get("Cluster");
    const target = partsOf(after);
    if (target === undefined || !clusters?.cameBack || !clusters.interest.wildcard) {
      return undefined;
    }
    const old = before && partsOf(before);
    if (old !== undefined && isSettled(subscriptions, old)) return undefined;
    const { told } = clusters;
    const Cluster = told === undefined
      ? old?.Cluster
      : heldCollection(told, target.Cluster, clusters.interest);
    if (Cluster === undefined) return undefined;
    const { added, removed } = nameChange(Cluster, target.Cluster);
    if (added.length + removed.length === 0) return undefined;
    const nothing = (type: XdsTypeName) => Collection.empty(target[type].anyType);
    const parts = {
      Cluster,
      ClusterLoadAssignment: target.ClusterLoadAssignment,
      Listener: nothing("Listener"),
      RouteConfiguration: nothing("RouteConfiguration"),
    };
    // Of what it held it may have had no endpoints.
    const unheard = Array.from(Cluster, ({ name }) => name);
    const origin = { parts, missing: { unheard, refused: [] }, returning: true };
    return new Transition(subscriptions, isQuiet, origin, target);
  }

  /** Whether it has come to its end; then every type is at the newest snapshot. */
  get over(): boolean {
    return this.#over;
  }

  /** Counts how often it reached a goal and went on to a newer one; each leg has its own time. */
  get legs(): number {
    return this.#legs;
  }

  /** How far it is. */
  get phase(): TransitionPhase {
    if (this.#routed !== this.#goal) return "clusters";
    const asks = routing(this.#subscriptions).length > 0;
    return !asks || this.#isRouted() ? "removal" : "routes";
  }

  /** Whether nothing of this type may be sent now. */
  holds(type: XdsTypeName): boolean {
    return this.#returning && this.#routed === this.#base &&
      (type === "Listener" || type === "RouteConfiguration");
  }

  /** What a subscription of this type is at meanwhile; undefined: what the client has, which is not known. */
  target(type: XdsTypeName): Collection | undefined {
    switch (type) {
      case "Cluster":
      case "ClusterLoadAssignment":
        return unionOf(this.#kept[type], this.#newest[type]);
      case "Listener":
      case "RouteConfiguration":
        return this.holds(type) ? undefined : this.#routed[type];
    }
  }

  /** Goes on to a newer snapshot: clusters and endpoints take it up at once, routes once they can. */
  retarget(snapshot: Snapshot): void {
    const newest = partsOf(snapshot);
    if (newest === undefined || sameParts(newest, this.#newest)) return;
    if (this.#goal === this.#newest) this.#keep(this.#goal);
    this.#newest = newest;
  }

  /** Goes as far as what the client accepted allows. */
  advance(): void {
    do this.#route(); while (this.#settle());
  }

  /** It takes too long: everything is at the newest snapshot from here on. */
  expire(): void {
    this.#base = this.#routed = this.#goal = this.#newest;
    this.#over = true;
  }

  /** Lets routes and listeners follow to the newest that the client is ready for. */
  #route(): void {
    if (this.#routed !== this.#newest && this.#isReady(this.#newest)) {
      this.#routed = this.#goal = this.#newest;
    } else if (this.#routed !== this.#goal && this.#isReady(this.#goal)) {
      this.#routed = this.#goal;
    }
  }

  /** Ends the leg if its goal is reached; true where another begins. */
  #settle(): boolean {
    if (this.#over || this.#routed !== this.#goal) return false;
    if (!this.#isRouted() || !this.#isReleased()) return false;
    this.#base = this.#goal;
    this.#returning = false;
    this.#missing = NOTHING_MISSING;
    this.#asked = this.#askedRoutes();
    this.#refusing = this.#refusals();
    if (this.#goal === this.#newest) {
      this.#over = true;
      return false;
    }
    this.#kept = this.#base;
    this.#goal = this.#newest;
    this.#legs++;
    return true;
  }

  #keep(parts: XdsParts): void {
    const { Cluster, ClusterLoadAssignment } = this.#kept;
    this.#kept = {
      Cluster: unionOf(Cluster, parts.Cluster),
      ClusterLoadAssignment: unionOf(ClusterLoadAssignment, parts.ClusterLoadAssignment),
    };
  }

  /** Whether the client has what the routes of these parts may lead to. */
  #isReady(parts: XdsParts): boolean {
    const clusters = this.#subscriptions.get("Cluster");
    // Who names clusters learns the names from routes, and asks for them before it uses those.
    if (!clusters?.interest.wildcard) return true;
    const { added } = nameChange(this.#base.Cluster, parts.Cluster);
    if (!added.every((name) => this.#hasCluster(name) && this.#hasEndpoints(name))) return false;
    const fresh = nameChange(this.#base.ClusterLoadAssignment, parts.ClusterLoadAssignment).added;
    if (!fresh.every((name) => !has(parts.Cluster, name) || this.#hasEndpoints(name))) return false;
    const { unheard, refused } = this.#missing;
    const isNeeded = (name: string) => has(parts.Cluster, name);
    return unheard.every((name) =>
      !isNeeded(name) || (this.#hasCluster(name) && this.#hasEndpoints(name))
    ) && refused.every((name) => !isNeeded(name) || this.#isSettled(name));
  }

  /** Whether a cluster that was refused before is there by now, or is not tried again. */
  #isSettled(name: string): boolean {
    return isHeldBack(this.#subscriptions, this.#isQuiet, name, this.#hasCluster(name)) ||
      (this.#hasCluster(name) && this.#hasEndpoints(name));
  }

  /** Whether the client accepted a cluster in the form that it is to have now. */
  #hasCluster(name: string): boolean {
    const clusters = this.#subscriptions.get("Cluster");
    if (!clusters?.has(name)) return false;
    return clusters.accepted?.get(name)?.version === this.target("Cluster")?.get(name)?.version;
  }

  /** Whether the client has the endpoints of a cluster, if it is one of those that ask for some. */
  #hasEndpoints(name: string): boolean {
    const isAssigned = has(this.#newest.Cluster, name)
      ? has(this.#newest.ClusterLoadAssignment, name)
      : has(this.#kept.ClusterLoadAssignment, name);
    return !isAssigned || (this.#subscriptions.get("ClusterLoadAssignment")?.has(name) ?? false);
  }

  /** Whether the client, whose routes and listeners are the newest, can do without what is old. */
  #isReleased(): boolean {
    const asked = this.#subscriptions.get("Cluster");
    // Who names no clusters, as Dubbo, goes on naming endpoints that no route leads to any more.
    if (asked === undefined) return true;
    if (asked.interest.wildcard) return this.#hasNewRoutes();
    const { removed } = nameChange(this.#kept.Cluster, this.#goal.Cluster);
    return !removed.some((name) => asked.interest.has(name));
  }

  /**
   * Whether a client that asks for all listeners has the routes that it asks for when it has them: a
   * new listener takes over once it has its routes, until then the old one goes on with its own.
   */
  #hasNewRoutes(): boolean {
    if (this.#subscriptions.get("Listener")?.interest.wildcard !== true) return true;
    const routes = this.#subscriptions.get("RouteConfiguration");
    const { RouteConfiguration } = this.#goal;
    const { added } = nameChange(this.#base.RouteConfiguration, RouteConfiguration);
    const isThere = (name: string) => routes?.has(name) ?? false;
    if (!added.every(isThere)) return false;
    for (const name of this.#asked) {
      if (has(RouteConfiguration, name) && !isThere(name)) return false;
    }
    return true;
  }

  /** Whether the client accepted the routes and listeners of the goal, apart from what it had refused before. */
  #isRouted(): boolean {
    const all = routing(this.#subscriptions);
    if (this.#returning && all.length === 0) return false; // it has not asked for them yet
    return all.every((one) =>
      isAt(one, this.#goal) || (this.#refusing.includes(one) && this.#isQuiet(one))
    );
  }

  #refusals(): Subscription[] {
    return routing(this.#subscriptions)
      .filter((one) => this.#isQuiet(one) && !isAt(one, this.#base));
  }

  #askedRoutes(): ReadonlySet<string> {
    return new Set(this.#subscriptions.get("RouteConfiguration")?.interest.names);
  }
}
