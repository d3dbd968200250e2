/** Pushes to judge, as other sources write them. */
import { convertService } from "../../lib/convert/convert.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { ReceivedResource } from "../../lib/receive/received.ts";
import {
  deltaDiscoveryResponseCodec,
  discoveryResponseCodec,
  type McpResource,
  mcpResourceCodec,
  type Partially,
  type Resources,
  resourcesCodec,
  type ServiceEntry,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";
import { service } from "../convert/service.ts";

/** MCP's name of ServiceEntries. */
export const COLLECTION = "istio/networking/v1alpha3/serviceentries";

/** xDS' name of ServiceEntries. */
export const TYPE_URL = "networking.istio.io/v1/ServiceEntry";

/** A ServiceEntry that nobody has anything against. */
export const ENTRY: Partially<ServiceEntry> = {
  hosts: ["orders.example.com"],
  addresses: ["240.0.0.1"],
  ports: [{ number: 443, name: "tls", protocol: "TLS" }],
  resolution: "STATIC",
  endpoints: [{ address: "10.0.0.1" }],
};

/** A resource as a source writes it. */
export function mcpResource(
  name: string,
  entry: Partially<ServiceEntry> = ENTRY,
  metadata: Partially<McpResource["metadata"]> = {},
): Partially<McpResource> {
  return {
    metadata: { name, version: `v-${name}`, ...metadata },
    body: serviceEntryCodec.pack(entry),
  };
}

/** A push of MCP. */
export function mcpPush(
  resources: readonly Partially<McpResource>[],
  rest: Partially<Resources> = {},
): Uint8Array {
  return resourcesCodec.encode({
    systemVersionInfo: "7",
    collection: COLLECTION,
    nonce: "n1",
    resources,
    ...rest,
  });
}

/** A push of MCP over xDS, state of the world. */
export function sotwPush(
  resources: readonly Partially<McpResource>[],
  typeUrl: string = TYPE_URL,
): Uint8Array {
  return discoveryResponseCodec.encode({
    versionInfo: "7",
    typeUrl,
    nonce: "n1",
    resources: resources.map((r) => ({
      typeUrl: MCP_RESOURCE_TYPE_URL,
      value: mcpResourceCodec.encode(r),
    })),
  });
}

/** A push of MCP over xDS, delta. */
export function deltaPush(
  resources: readonly Partially<McpResource>[],
  removedResources: readonly string[] = [],
): Uint8Array {
  return deltaDiscoveryResponseCodec.encode({
    systemVersionInfo: "7",
    typeUrl: TYPE_URL,
    nonce: "n1",
    removedResources,
    resources: resources.map((r) => ({
      name: r.metadata?.name ?? "",
      version: `d-${r.metadata?.name}`,
      resource: { typeUrl: MCP_RESOURCE_TYPE_URL, value: mcpResourceCodec.encode(r) },
    })),
  });
}

/** Resources as our own conversion makes them, `shop/svc-0`…; `mark` tells two of one name apart. */
export function converted(count: number, mark = "a"): Resource[] {
  return Array.from({ length: count }, (_, i) => {
    const { resource } = convertService(service({
      namespace: "shop",
      name: `svc-${i}`,
      hosts: [`svc-${i}.shop.example.com`],
      labels: { mark },
    }));
    return resource!;
  });
}

/** Resources as judged: from a source that gives them our own versions. */
export function received(count: number, mark = "a"): ReceivedResource[] {
  return converted(count, mark).map((resource) => ({ resource, told: resource.version }));
}
