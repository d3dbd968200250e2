/** ServiceEntries and parts to unite in tests. */
import { encodeResource } from "../../lib/convert/encode_resource.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import {
  mcpResourceCodec,
  type Partially,
  type ServiceEntry,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";

/** A ServiceEntry `namespace/name` of a single host and port, but for what is given. */
export function entry(
  name: string,
  spec: Partially<ServiceEntry> = {},
  labels: Readonly<Record<string, string>> = {},
): Resource {
  const [namespace, bare] = name.split("/") as [string, string];
  const body = serviceEntryCodec.pack({
    hosts: [`${bare}.example.com`],
    ports: [{ number: 80, protocol: "HTTP", name: "http" }],
    resolution: "STATIC",
    ...spec,
  });
  return encodeResource({ namespace, name: bare, labels, annotations: {} }, body);
}

/** The same as a part's collections. */
export function entries(...resources: readonly Resource[]): Map<string, Collection> {
  return new Map([["ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources)]]);
}

/** The ServiceEntry in a resource. */
export function decoded(resource: Resource | undefined): ServiceEntry {
  return serviceEntryCodec.decode(mcpResourceCodec.decode(resource!.bytes).body!.value);
}
