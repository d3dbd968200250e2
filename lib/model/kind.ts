/**
 * THE table of kinds: what a person calls an Istio object, what MCP calls its collection, and what
 * xDS calls its type. Every other place that needs one of these names asks here.
 *
 * @module
 */

/** How one kind of Istio object is named by everyone who speaks of it. */
export interface Kind {
  /** Kubernetes kind, for example `ServiceEntry`. */
  readonly kind: string;
  /** API group, for example `networking.istio.io`. */
  readonly group: string;
  /** Every served API version, newest first. Each gives a type URL of its own. */
  readonly versions: readonly string[];
  /** MCP v1alpha1 collection, for example `istio/networking/v1alpha3/serviceentries`. */
  readonly collection: string;
  /** Full name of the message in the resource body, whatever the version asked for. */
  readonly message: string;
  /** Whether names are `namespace/name` (true) or a bare `name` (false). */
  readonly namespaced: boolean;
}

const networking = (kind: string, plural: string, versions: readonly string[]): Kind => ({
  kind,
  group: "networking.istio.io",
  versions,
  collection: `istio/networking/${versions.at(-1)}/${plural}`,
  message: `istio.networking.${versions.at(-1)}.${kind}`,
  namespaced: true,
});

const security = (kind: string, plural: string): Kind => ({
  kind,
  group: "security.istio.io",
  versions: ["v1", "v1beta1"],
  collection: `istio/security/v1beta1/${plural}`,
  message: `istio.security.v1beta1.${kind}`,
  namespaced: true,
});

const extension = (kind: string, plural: string): Kind => ({
  kind,
  group: "extensions.istio.io",
  versions: ["v1alpha1"],
  collection: `istio/extensions/v1alpha1/${plural}`,
  message: `istio.extensions.v1alpha1.${kind}`,
  namespaced: true,
});

const ALL_NETWORKING = ["v1", "v1beta1", "v1alpha3"];

/** Every kind that today's istiod asks of a configuration source, MeshConfig apart. */
export const KINDS: readonly Kind[] = [
  networking("ServiceEntry", "serviceentries", ALL_NETWORKING),
  networking("WorkloadEntry", "workloadentries", ALL_NETWORKING),
  networking("WorkloadGroup", "workloadgroups", ALL_NETWORKING),
  networking("VirtualService", "virtualservices", ALL_NETWORKING),
  networking("DestinationRule", "destinationrules", ALL_NETWORKING),
  networking("Gateway", "gateways", ALL_NETWORKING),
  networking("Sidecar", "sidecars", ALL_NETWORKING),
  networking("EnvoyFilter", "envoyfilters", ["v1alpha3"]),
  networking("ProxyConfig", "proxyconfigs", ["v1beta1"]),
  security("AuthorizationPolicy", "authorizationpolicies"),
  security("PeerAuthentication", "peerauthentications"),
  security("RequestAuthentication", "requestauthentications"),
  {
    kind: "Telemetry",
    group: "telemetry.istio.io",
    versions: ["v1", "v1alpha1"],
    collection: "istio/telemetry/v1alpha1/telemetries",
    message: "istio.telemetry.v1alpha1.Telemetry",
    namespaced: true,
  },
  extension("WasmPlugin", "wasmplugins"),
  extension("TrafficExtension", "trafficextensions"),
];

/** The type URL under which istiod asks for the mesh-wide settings; answered empty. */
export const MESH_CONFIG_TYPE_URL = "core/v1alpha1/MeshConfig";

/** The collection that a source names to make a ResourceSink speak first (dial-out). */
export const TRIGGER_COLLECTION = "$triggerCollection";

/** Whether a message of this collection is a source's trigger; before 2019-04-17 it had no name. */
export function isTrigger(collection: string): boolean {
  return collection === TRIGGER_COLLECTION || collection === "";
}

/** `type_url` of the Any around a `google.protobuf.Any`-wrapped MCP resource in an xDS response. */
export const MCP_RESOURCE_TYPE_URL = "type.googleapis.com/istio.mcp.v1alpha1.Resource";

const byName = new Map(KINDS.map((k) => [k.kind, k]));
const byCollection = new Map(KINDS.map((k) => [k.collection, k]));
const byTypeUrl: ReadonlyMap<string, Kind> = new Map(
  KINDS.flatMap((k) => k.versions.map((v) => [`${k.group}/${v}/${k.kind}`, k] as const)),
);

/** The kind of this Kubernetes name, for example `ServiceEntry`. */
export function kindByName(name: string): Kind | undefined {
  return byName.get(name);
}

/** The kind behind an MCP collection name. */
export function kindByCollection(collection: string): Kind | undefined {
  return byCollection.get(collection);
}

/** The kind behind an xDS type URL such as `networking.istio.io/v1/ServiceEntry`, any served version. */
export function kindByTypeUrl(typeUrl: string): Kind | undefined {
  return byTypeUrl.get(typeUrl);
}

/**
 * Whether a type URL belongs to Istio's configuration (any group of `*.istio.io`, or MeshConfig), so
 * that it is answered with an empty set even if nothing is known of it. An istiod opens its own port
 * only after every type it asked for was answered.
 */
export function isIstioTypeUrl(typeUrl: string): boolean {
  return typeUrl === MESH_CONFIG_TYPE_URL || /^[a-z0-9.-]+\.istio\.io\/[^/]+\/[^/]+$/.test(typeUrl);
}
