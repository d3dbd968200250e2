import { assert, assertEquals, assertThrows } from "@std/assert";
import * as messages from "../../lib/wire/messages.ts";
import { nameOf, root } from "./arbitrary.ts";
import { XDS_INTERFACES } from "./xds_interfaces.ts";
import { NETWORKING_FIELDS } from "./networking_fields.ts";

/** Every property of an interface; the compiler sees to it that none is missing and none too many. */
type Keys<T> = Record<keyof Required<T>, true>;

const STATUS: Keys<messages.Status> = { code: true, message: true, details: true };
const VALUE: Keys<messages.Value> = {
  nullValue: true,
  numberValue: true,
  stringValue: true,
  boolValue: true,
  structValue: true,
  listValue: true,
};
const MCP_METADATA: Keys<messages.McpMetadata> = {
  name: true,
  createTime: true,
  version: true,
  labels: true,
  annotations: true,
};
const REQUEST_RESOURCES: Keys<messages.RequestResources> = {
  sinkNode: true,
  collection: true,
  initialResourceVersions: true,
  responseNonce: true,
  errorDetail: true,
  incremental: true,
};
const RESOURCES: Keys<messages.Resources> = {
  systemVersionInfo: true,
  collection: true,
  resources: true,
  removedResources: true,
  nonce: true,
  incremental: true,
};
const MESH_CONFIG_REQUEST: Keys<messages.MeshConfigRequest> = {
  versionInfo: true,
  sinkNode: true,
  typeUrl: true,
  responseNonce: true,
  errorDetail: true,
};
const MESH_CONFIG_RESPONSE: Keys<messages.MeshConfigResponse> = {
  versionInfo: true,
  resources: true,
  typeUrl: true,
  nonce: true,
};
const INCREMENTAL_REQUEST: Keys<messages.IncrementalMeshConfigRequest> = {
  sinkNode: true,
  typeUrl: true,
  initialResourceVersions: true,
  responseNonce: true,
  errorDetail: true,
};
const INCREMENTAL_RESPONSE: Keys<messages.IncrementalMeshConfigResponse> = {
  systemVersionInfo: true,
  resources: true,
  removedResources: true,
  nonce: true,
};
const NODE: Keys<messages.Node> = {
  id: true,
  cluster: true,
  metadata: true,
  locality: true,
  userAgentName: true,
  userAgentVersion: true,
  userAgentBuildVersion: true,
  extensions: true,
  clientFeatures: true,
  listeningAddresses: true,
  dynamicParameters: true,
};
const EXTENSION: Keys<messages.Extension> = {
  name: true,
  category: true,
  typeDescriptor: true,
  version: true,
  disabled: true,
  typeUrls: true,
};
const DISCOVERY_REQUEST: Keys<messages.DiscoveryRequest> = {
  versionInfo: true,
  node: true,
  resourceNames: true,
  typeUrl: true,
  responseNonce: true,
  errorDetail: true,
  resourceLocators: true,
};
const DISCOVERY_RESPONSE: Keys<messages.DiscoveryResponse> = {
  versionInfo: true,
  resources: true,
  canary: true,
  typeUrl: true,
  nonce: true,
  controlPlane: true,
  resourceErrors: true,
};
const DELTA_REQUEST: Keys<messages.DeltaDiscoveryRequest> = {
  node: true,
  typeUrl: true,
  resourceNamesSubscribe: true,
  resourceNamesUnsubscribe: true,
  initialResourceVersions: true,
  responseNonce: true,
  errorDetail: true,
  resourceLocatorsSubscribe: true,
  resourceLocatorsUnsubscribe: true,
};
const DELTA_RESPONSE: Keys<messages.DeltaDiscoveryResponse> = {
  systemVersionInfo: true,
  resources: true,
  typeUrl: true,
  nonce: true,
  removedResources: true,
  controlPlane: true,
  removedResourceNames: true,
  resourceErrors: true,
};
const DELTA_RESOURCE: Keys<messages.DeltaResource> = {
  version: true,
  resource: true,
  name: true,
  aliases: true,
  ttl: true,
  cacheControl: true,
  resourceName: true,
  metadata: true,
};
const CONSTRAINTS: Keys<messages.DynamicParameterConstraints> = {
  constraint: true,
  orConstraints: true,
  andConstraints: true,
  notConstraints: true,
};

const INTERFACES: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  ...NETWORKING_FIELDS,
  "istio.networking.v1alpha3.VirtualService": keys<messages.VirtualService>({
    hosts: true,
    gateways: true,
    http: true,
    tcp: true,
    tls: true,
    exportTo: true,
  }),
  "istio.networking.v1alpha3.DestinationRule": keys<messages.DestinationRule>({
    host: true,
    trafficPolicy: true,
    subsets: true,
    exportTo: true,
  }),
  "google.rpc.Status": STATUS,
  "google.protobuf.Any": keys<messages.Any>({ typeUrl: true, value: true }),
  "google.protobuf.Timestamp": keys<messages.Timestamp>({ seconds: true, nanos: true }),
  "google.protobuf.Duration": keys<messages.Duration>({ seconds: true, nanos: true }),
  "google.protobuf.Struct": keys<messages.Struct>({ fields: true }),
  "google.protobuf.Value": VALUE,
  "istio.mcp.v1alpha1.SinkNode": keys<messages.SinkNode>({ id: true, annotations: true }),
  "istio.mcp.v1alpha1.Metadata": MCP_METADATA,
  "istio.mcp.v1alpha1.Resource": keys<messages.McpResource>({ metadata: true, body: true }),
  "istio.mcp.v1alpha1.RequestResources": REQUEST_RESOURCES,
  "istio.mcp.v1alpha1.Resources": RESOURCES,
  "istio.mcp.v1alpha1.MeshConfigRequest": MESH_CONFIG_REQUEST,
  "istio.mcp.v1alpha1.MeshConfigResponse": MESH_CONFIG_RESPONSE,
  "istio.mcp.v1alpha1.IncrementalMeshConfigRequest": INCREMENTAL_REQUEST,
  "istio.mcp.v1alpha1.IncrementalMeshConfigResponse": INCREMENTAL_RESPONSE,
  "envoy.config.core.v3.Locality": keys<messages.Locality>({
    region: true,
    zone: true,
    subZone: true,
  }),
  "envoy.config.core.v3.BuildVersion": keys<messages.BuildVersion>({
    version: true,
    metadata: true,
  }),
  "envoy.config.core.v3.Extension": EXTENSION,
  "envoy.config.core.v3.Address": keys<messages.Address>({
    socketAddress: true,
    pipe: true,
    envoyInternalAddress: true,
  }),
  "envoy.config.core.v3.SocketAddress": keys<NonNullable<messages.Address["socketAddress"]>>({
    protocol: true,
    address: true,
    portValue: true,
    namedPort: true,
    resolverName: true,
    ipv4Compat: true,
    networkNamespaceFilepath: true,
  }),
  "envoy.config.core.v3.Node": NODE,
  "envoy.config.core.v3.Metadata": keys<messages.EnvoyMetadata>({
    filterMetadata: true,
    typedFilterMetadata: true,
  }),
  "envoy.config.core.v3.ControlPlane": keys<messages.ControlPlane>({ identifier: true }),
  "envoy.service.discovery.v3.ResourceLocator": keys<messages.ResourceLocator>({
    name: true,
    dynamicParameters: true,
  }),
  "envoy.service.discovery.v3.DynamicParameterConstraints": CONSTRAINTS,
  "envoy.service.discovery.v3.ResourceName": keys<messages.ResourceName>({
    name: true,
    dynamicParameterConstraints: true,
  }),
  "envoy.service.discovery.v3.ResourceError": keys<messages.ResourceError>({
    resourceName: true,
    errorDetail: true,
  }),
  "envoy.service.discovery.v3.DiscoveryRequest": DISCOVERY_REQUEST,
  "envoy.service.discovery.v3.DiscoveryResponse": DISCOVERY_RESPONSE,
  "envoy.service.discovery.v3.DeltaDiscoveryRequest": DELTA_REQUEST,
  "envoy.service.discovery.v3.DeltaDiscoveryResponse": DELTA_RESPONSE,
  "envoy.service.discovery.v3.Resource": DELTA_RESOURCE,
  ...XDS_INTERFACES,
};

function keys<T>(of: Keys<T>): Readonly<Record<string, true>> {
  return of;
}

const CODECS = Object.values(messages).filter((value): value is messages.MessageCodec<object> =>
  typeof value === "object"
);

Deno.test("messages: the interfaces have the fields of the .proto files, no more and no fewer", () => {
  for (const [name, fields] of Object.entries(INTERFACES)) {
    assertEquals(
      Object.keys(fields).sort(),
      root.lookupType(name).fieldsArray.map((field) => field.name).sort(),
      name,
    );
  }
});

Deno.test("messages: every codec is of a type that is checked here, and codes it", () => {
  assert(CODECS.length >= 16);
  for (const codec of CODECS) {
    assert(codec.typeName in INTERFACES, codec.typeName);
    assertEquals(nameOf(root.lookupType(codec.typeName)), codec.typeName);
    assertEquals(codec.encode(codec.decode(new Uint8Array(0))).length, 0);
    assertEquals(codec.typeUrl, `type.googleapis.com/${codec.typeName}`);
  }
});

Deno.test("messages: what is packed can be unpacked by its type URL", () => {
  const any = messages.serviceEntryCodec.pack({ hosts: ["a.example"], resolution: "DNS" });
  assertEquals(any.typeUrl, "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry");
  const entry = messages.serviceEntryCodec.decode(any.value);
  assertEquals([entry.hosts, entry.resolution], [["a.example"], "DNS"]);
});

Deno.test("messages: a bound given to a codec reaches the decoder", () => {
  const bytes = messages.discoveryRequestCodec.encode({ resourceNames: ["a", "b"] });
  assertThrows(
    () => messages.discoveryRequestCodec.decode(bytes, { fields: 1 }),
    Error,
    "more than 1",
  );
});
