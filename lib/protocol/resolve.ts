/**
 * What is served under which name. A machine asks a resolver once per subscription; the answer says
 * where the resources are in a snapshot and by which rules of the protocol they are asked for.
 *
 * @module
 */
import {
  isIstioTypeUrl,
  type Kind,
  kindByCollection,
  kindByTypeUrl,
  KINDS,
  MCP_RESOURCE_TYPE_URL,
  MESH_CONFIG_TYPE_URL,
} from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import type { UnknownCollection } from "../model/settings.ts";
import type { XdsTypeName } from "../model/xds_type.ts";
import { Collection } from "../snapshot/collection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { quote } from "./quote.ts";

/** A type that can be subscribed to, and the rules that go with it. */
export interface ServedType {
  /**
   * Every resource of this type in a snapshot; the same object for the same snapshot, so that streams
   * share it. Undefined where the snapshot does not say what there is: then what was there before
   * stays, and nothing is answered before anything was.
   */
  collection(snapshot: Snapshot): Collection | undefined;
  /** The empty collection of this type; one object for all streams, so that they share diffs from it. */
  readonly nothing: Collection;
  /** Whether all resources may be asked for, by `*` or by naming none; false for EDS and RDS. */
  readonly wildcard: boolean;
  /**
   * Whether a state-of-the-world response says by silence that a resource is not there (LDS, CDS,
   * Istio's kinds). Then a name newly asked for is answered even if it does not exist.
   */
  readonly complete: boolean;
  /** Of subscriptions that wait, the lowest goes first; among equals, whichever waited longest. */
  readonly priority: number;
  /** Type URL of which resources are sent again when resources of the same name change here: EDS after CDS, else a changed cluster stays warming. */
  readonly renews?: string;
  /** Which xDS type this is; absent: none, so that it has no part in transitions. */
  readonly xds?: XdsTypeName;
  /** Whether its stream serves nothing else, so that there are no transitions on it. Absent: no. */
  readonly alone?: boolean;
  /** The resource for a name that is asked for and does not exist: equal for equal names. Absent: none, the name is left out. */
  fallback?(name: string): Resource;
  /** A resource as it is answered at the `opening`th time that the type is asked for anew; asked from the second on. Absent: always the same. */
  variant?(resource: Resource, opening: number): Resource;
  /** Times that count as having been before the first on this stream. Absent: none. */
  readonly earlier?: number;
}

/** What a resolver says of a type URL or collection. */
export type Resolution =
  | { readonly kind: "served"; readonly type: ServedType }
  /** The stream is to end; the message is for the person at the other end. */
  | { readonly kind: "unsupported"; readonly message: string };

/** Knows what is served under which type URL or collection. */
export interface Resolver {
  resolve(type: string): Resolution;
}

/**
 * Resolves xDS type URLs: every served version of Istio's kinds (MCP over xDS, protocols.md section
 * 2); any other type of Istio's, and MeshConfig, is an empty set, since an istiod waits for each;
 * everything else is unsupported: an empty answer would make an Envoy drop what it has.
 */
export function typeUrlResolver(): Resolver {
  const served = servedKinds();
  const empty = emptyType();
  return {
    resolve(typeUrl) {
      const kind = kindByTypeUrl(typeUrl);
      if (kind !== undefined) return { kind: "served", type: served.get(kind)! };
      if (isIstioTypeUrl(typeUrl)) return { kind: "served", type: empty };
      return { kind: "unsupported", message: unsupportedTypeUrl(typeUrl) };
    },
  };
}

/** Options of {@link collectionResolver}. */
export interface CollectionResolverOptions {
  /** How a collection that is not served is answered. */
  readonly unknownCollection: UnknownCollection;
}

/** Resolves MCP collections (protocols.md section 1). */
export function collectionResolver({ unknownCollection }: CollectionResolverOptions): Resolver {
  const served = servedKinds();
  const empty = emptyType();
  return {
    resolve(collection) {
      const kind = kindByCollection(collection);
      if (kind !== undefined) return { kind: "served", type: served.get(kind)! };
      if (unknownCollection === "empty" && collection !== "") {
        return { kind: "served", type: empty };
      }
      return { kind: "unsupported", message: unsupportedCollection(collection) };
    },
  };
}

function servedKinds(): ReadonlyMap<Kind, ServedType> {
  return new Map(KINDS.map((kind) => {
    const nothing = Collection.empty(MCP_RESOURCE_TYPE_URL);
    return [kind, {
      collection: (snapshot) => snapshot.collections.get(kind.kind) ?? nothing,
      nothing,
      wildcard: true,
      complete: true,
      priority: 0,
    }];
  }));
}

function emptyType(): ServedType {
  const nothing = Collection.empty(MCP_RESOURCE_TYPE_URL);
  return { collection: () => nothing, nothing, wildcard: true, complete: true, priority: 0 };
}

function unsupportedTypeUrl(typeUrl: string): string {
  if (typeUrl === "") return `a request must say its type_url; ${servedTypeUrls()}`;
  return `type URL ${quote(typeUrl)} is not served here; ${servedTypeUrls()}`;
}

function servedTypeUrls(): string {
  const urls = KINDS.flatMap((k) => k.versions.map((v) => `${k.group}/${v}/${k.kind}`));
  return `served are ${urls.join(", ")}; any other *.istio.io type and ${MESH_CONFIG_TYPE_URL} ` +
    "are answered with an empty set";
}

function unsupportedCollection(collection: string): string {
  const served = `served are ${KINDS.map((k) => k.collection).join(", ")}`;
  if (collection === "") return `a request must say its collection; ${served}`;
  return `collection ${quote(collection)} is not served here; ${served}`;
}
