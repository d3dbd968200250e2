/**
 * AggregatedMeshConfigService, the older form of MCP that the sinks of Istio 1.0 and 1.1 speak
 * (protocols.md section 1): the rules of ResourceSource, type URLs in place of collections.
 *
 * @module
 */
import { KINDS } from "../model/kind.ts";
import type { IncrementalMeshConfigRequest, MeshConfigRequest } from "../wire/messages.ts";
import { Machine } from "./machine.ts";
import { SINK_TRAITS, takeMcpRequest } from "./mcp_source.ts";
import { quote } from "./quote.ts";
import type { Resolver } from "./resolve.ts";
import type { Received } from "./stream.ts";
import type { MachineOptions } from "./subscriptions.ts";

/** One stream of `StreamAggregatedResources`: every push is everything. `version_info` of a request says nothing that its nonce does not. */
export class MeshConfigMachine extends Machine<MeshConfigRequest> {
  constructor(options: MachineOptions) {
    super(options, SINK_TRAITS);
  }

  override receive({ typeUrl: collection, ...request }: MeshConfigRequest): Received {
    const adapted = { ...request, collection, initialResourceVersions: {}, incremental: false };
    return takeMcpRequest(adapted, this.subscriptions);
  }
}

/**
 * One stream of `IncrementalAggregatedResources`: a push holds what changed. No field of a response
 * names its type, so each nonce ends with a slash and the type URL as it was asked for.
 */
export class IncrementalMeshConfigMachine extends Machine<IncrementalMeshConfigRequest> {
  constructor(options: MachineOptions) {
    super({ ...options, typedNonces: true }, SINK_TRAITS);
  }

  override receive({ typeUrl: collection, ...request }: IncrementalMeshConfigRequest): Received {
    return takeMcpRequest({ ...request, collection, incremental: true }, this.subscriptions);
  }
}

const collectionByTypeUrl: ReadonlyMap<string, string> = new Map(
  KINDS.map(({ message, collection }) => [`type.googleapis.com/${message}`, collection]),
);

/**
 * Resolves what these sinks ask for: those of Istio 1.0 by the type URL of a kind's message
 * (`type.googleapis.com/istio.networking.v1alpha3.ServiceEntry`), those of 1.1 by its collection.
 * Anything else is answered as `collections` answers what it does not know.
 */
export function messageTypeResolver(collections: Resolver): Resolver {
  return {
    resolve(type) {
      const resolution = collections.resolve(collectionByTypeUrl.get(type) ?? type);
      if (resolution.kind === "served") return resolution;
      return { kind: "unsupported", message: unsupported(type) };
    },
  };
}

function unsupported(type: string): string {
  const served = `served are ${[...collectionByTypeUrl.keys()].join(", ")}`;
  if (type === "") return `a request must say its type_url; ${served}`;
  return `type URL ${quote(type)} is not served here; ${served}`;
}
