/**
 * Which service's resource is served under a name that several made one for: that of the first by key,
 * so that it is the same whoever came first.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { xdsType, type XdsTypeName } from "../model/xds_type.ts";
import type { ViewFinding } from "./recipe.ts";
import type { Outcome } from "./view_maker.ts";

/** Everyone's resource of one name, by key. Mostly one. */
type Claimants = Map<string, Resource>;

/** The resources that services have for themselves. */
export class Claims {
  readonly #byType = new Map<XdsTypeName, Map<string, Claimants>>();
  readonly #touched = new Map<XdsTypeName, Set<string>>();
  /** Names that more than one service wants. */
  readonly #contested = new Map<XdsTypeName, Set<string>>();

  /** A service made this resource; what it made twice under one name counts as made last. */
  add(type: XdsTypeName, key: string, resource: Resource): void {
    const names = within(this.#byType, type, () => new Map<string, Claimants>());
    within(names, resource.name, () => new Map<string, Resource>()).set(key, resource);
    this.#touch(type, resource.name);
  }

  /** A service makes no resource of this name any more. */
  remove(type: XdsTypeName, key: string, name: string): void {
    const claimants = this.#byType.get(type)?.get(name);
    if (claimants === undefined) return;
    claimants.delete(key);
    if (claimants.size === 0) this.#byType.get(type)!.delete(name);
    this.#touch(type, name);
  }

  /** What became of the names that were touched since the last call. */
  settle(): ReadonlyMap<XdsTypeName, readonly Outcome[]> {
    const outcomes = new Map<XdsTypeName, Outcome[]>();
    for (const [type, names] of this.#touched) {
      outcomes.set(type, Array.from(names, (name) => [name, this.#winner(type, name)?.[1]]));
      const contested = within(this.#contested, type, () => new Set<string>());
      for (const name of names) {
        if ((this.#byType.get(type)?.get(name)?.size ?? 0) > 1) contested.add(name);
        else contested.delete(name);
      }
    }
    this.#touched.clear();
    return outcomes;
  }

  /** A finding for each service whose resource is not served, since another has its name. */
  findings(): ViewFinding[] {
    const findings: ViewFinding[] = [];
    for (const [type, names] of this.#contested) {
      for (const name of [...names].sort()) {
        const [winner] = this.#winner(type, name)!;
        for (const key of this.#byType.get(type)!.get(name)!.keys()) {
          if (key !== winner) findings.push(lost(type, name, key, winner));
        }
      }
    }
    return findings;
  }

  #winner(type: XdsTypeName, name: string): readonly [string, Resource] | undefined {
    let first: readonly [string, Resource] | undefined;
    for (const claim of this.#byType.get(type)?.get(name) ?? []) {
      if (first === undefined || claim[0] < first[0]) first = claim;
    }
    return first;
  }

  #touch(type: XdsTypeName, name: string): void {
    within(this.#touched, type, () => new Set<string>()).add(name);
  }
}

function lost(type: XdsTypeName, name: string, key: string, winner: string): ViewFinding {
  return {
    key,
    rule: "view/name-taken",
    message: `${xdsType(type).shortName} resource ${name} is that of ${winner}; ` +
      "give one of the two services another host, port or alias",
  };
}

function within<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make());
  return value;
}
