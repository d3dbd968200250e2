/**
 * How the view of one kind of client is made: what each service adds to it, and how resources that
 * services share are put together. Pure, so that a change costs what it changes: what a service adds
 * is kept until the service changes, a shared resource until one of its parts does.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { XdsTypeName } from "../model/xds_type.ts";
import type { Addresses, ServedService, ViewContext } from "./served_service.ts";

/** Something a person should know of a view. */
export interface ViewFinding {
  /** `namespace/name` of the service. */
  readonly key: string;
  /** For example `view/dubbo-split`; docs/rules.md has a paragraph on each. */
  readonly rule: string;
  /** What these clients do not get, why, and what would be right. */
  readonly message: string;
}

/** What a service adds to a view. `Data` is what the recipe needs of it in shared resources. */
export interface Contribution<Data> {
  /** Resources of the service alone. Of two services that make a resource of one name, the first by key is served. */
  readonly resources: { readonly [Type in XdsTypeName]?: readonly Resource[] };
  /** Its parts of resources that it shares with others. */
  readonly parts: readonly Part<Data>[];
  /** DNS names of whose addresses it is made: it is made again when those change. */
  readonly lookUps: readonly string[];
  readonly findings: readonly ViewFinding[];
}

/** One service's part of a shared resource. */
export interface Part<Data> {
  readonly type: XdsTypeName;
  /** Name of the resource. */
  readonly name: string;
  readonly data: Data;
}

/** A part and whose it is. */
export interface OwnedPart<Data> {
  /** `namespace/name` of the service. */
  readonly key: string;
  readonly data: Data;
}

/** A shared resource, put together; without a resource where the parts come to none. */
export interface Assembled {
  readonly resource?: Resource;
  readonly findings: readonly ViewFinding[];
}

/** How one kind of client is served. */
export interface Recipe<Data> {
  /** What is there whatever the services, even without any; its parts have the key "". Absent: nothing. */
  standing?(context: ViewContext): Pick<Contribution<Data>, "resources" | "parts">;
  /** What the service adds. `addresses` is asked only for names that are among the contribution's `lookUps`. */
  contribute(served: ServedService, context: ViewContext, addresses: Addresses): Contribution<Data>;
  /** A shared resource; its parts come in the order of keys, at least one. */
  assemble(
    type: XdsTypeName,
    name: string,
    parts: readonly OwnedPart<Data>[],
    context: ViewContext,
  ): Assembled;
}

/** Nothing. */
export const NO_ADDRESSES: Addresses = { get: () => undefined };
