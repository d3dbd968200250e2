/**
 * The resources that services share, such as the RouteConfiguration of a port: of each, whose parts it
 * is made of, and what it came to.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { XdsTypeName } from "../model/xds_type.ts";
import { attempt, failed } from "./attempt.ts";
import type { Assembled, OwnedPart, Part, Recipe, ViewFinding } from "./recipe.ts";
import type { ViewContext } from "./served_service.ts";
import type { Outcome } from "./view_maker.ts";

/** One shared resource. */
export interface Group<Data> {
  readonly type: XdsTypeName;
  readonly name: string;
  /** Each service's parts, by its key. */
  readonly parts: Map<string, Data[]>;
  findings: readonly ViewFinding[];
}

/** The shared resources of a view. */
export class Groups<Data> {
  readonly #recipe: Recipe<Data>;
  readonly #byId = new Map<string, Group<Data>>();
  readonly #touched = new Set<Group<Data>>();

  constructor(recipe: Recipe<Data>) {
    this.#recipe = recipe;
  }

  /** A service has these parts in place of those; equal ones touch nothing. */
  replace(key: string, had: readonly Part<Data>[], has: readonly Part<Data>[]): void {
    if (isDeepStrictEqual(had, has)) return;
    for (const part of had) this.#remove(key, part);
    for (const part of has) this.#add(key, part);
  }

  /** Whatever is there is to be put together anew. */
  touchAll(): void {
    for (const group of this.#byId.values()) this.#touched.add(group);
  }

  /** Puts together what was touched since the last call, and says what became of it. */
  settle(context: ViewContext): ReadonlyMap<XdsTypeName, readonly Outcome[]> {
    const outcomes = new Map<XdsTypeName, Outcome[]>();
    for (const group of this.#touched) {
      const outcome = this.#assemble(group, context);
      const of = outcomes.get(group.type);
      if (of === undefined) outcomes.set(group.type, [outcome]);
      else of.push(outcome);
    }
    this.#touched.clear();
    return outcomes;
  }

  /** The shared resources there are, those that came to nothing included. */
  values(): Iterable<Group<Data>> {
    return this.#byId.values();
  }

  #add(key: string, { type, name, data }: Part<Data>): void {
    const id = idOf(type, name);
    let group = this.#byId.get(id);
    if (group === undefined) {
      group = { type, name, parts: new Map(), findings: [] };
      this.#byId.set(id, group);
    }
    const own = group.parts.get(key);
    if (own === undefined) group.parts.set(key, [data]);
    else own.push(data);
    this.#touched.add(group);
  }

  #remove(key: string, { type, name }: Part<Data>): void {
    const group = this.#byId.get(idOf(type, name));
    if (group === undefined) return;
    group.parts.delete(key);
    this.#touched.add(group);
  }

  #assemble(group: Group<Data>, context: ViewContext): Outcome {
    const { type, name } = group;
    if (group.parts.size === 0) {
      this.#byId.delete(idOf(type, name));
      return [name, undefined];
    }
    const { resource, findings } = this.#assembled(group, inOrder(group), context);
    group.findings = findings;
    return [name, resource];
  }

  /** Where the parts cannot be put together, those are left out that cannot be even alone. */
  #assembled(
    { type, name }: Group<Data>,
    parts: readonly OwnedPart<Data>[],
    context: ViewContext,
  ): Assembled {
    const assemble = (some: readonly OwnedPart<Data>[]) =>
      this.#recipe.assemble(type, name, some, context);
    const told: ViewFinding[] = [];
    return attempt(() => assemble(parts), () => {
      const good = withoutBad(parts, assemble, told);
      const rest = good.length === 0
        ? { findings: [] }
        : attempt(() => assemble(good), (why) => ({ findings: [failed(name, why)] }));
      return { ...rest, findings: [...rest.findings, ...told] };
    });
  }
}

/** Those of the parts that can be put together; halves are tried, so that a few bad ones among thousands are found soon. */
function withoutBad<Data>(
  parts: readonly OwnedPart<Data>[],
  assemble: (parts: readonly OwnedPart<Data>[]) => unknown,
  told: ViewFinding[],
): readonly OwnedPart<Data>[] {
  return attempt(() => {
    assemble(parts);
    return parts;
  }, (why) => {
    const [only, second] = parts;
    if (only === undefined) return [];
    if (second === undefined) {
      told.push(failed(only.key, why));
      return [];
    }
    const middle = Math.ceil(parts.length / 2);
    const halves = [parts.slice(0, middle), parts.slice(middle)];
    return halves.flatMap((half) => withoutBad(half, assemble, told));
  });
}

function inOrder<Data>({ parts }: Group<Data>): OwnedPart<Data>[] {
  return [...parts.keys()].sort().flatMap((key) => parts.get(key)!.map((data) => ({ key, data })));
}

function idOf(type: XdsTypeName, name: string): string {
  return `${type} ${name}`;
}
