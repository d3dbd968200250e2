/**
 * A resource as people and `kubectl` write it: apiVersion, kind, metadata, spec.
 *
 * @module
 */
import { KINDS } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import { decode, encode } from "../wire/codec.ts";
import { type Duration, mcpResourceCodec, type StringMap } from "../wire/messages.ts";

/** An Istio object in the form of the Kubernetes API. Keys stand in the order in which they are to be written. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: StringMap;
    readonly annotations?: StringMap;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

const TYPE_PREFIX = "type.googleapis.com/";

interface Order {
  readonly fields: readonly string[];
  readonly always: readonly string[];
  /** Whether Istio's message has fields that ours has not. */
  readonly isPart?: true;
}

/** Fields of each message in the order in which people write them; these are there even with their default. */
const ORDER: Readonly<Record<string, Order>> = {
  ServiceEntry: {
    fields: [
      "hosts",
      "addresses",
      "ports",
      "location",
      "resolution",
      "endpoints",
      "workloadSelector",
      "exportTo",
      "subjectAltNames",
    ],
    always: ["location", "resolution"],
  },
  WorkloadEntry: {
    fields: ["address", "ports", "labels", "network", "locality", "weight", "serviceAccount"],
    always: [],
  },
  VirtualService: {
    fields: ["hosts", "gateways", "http", "tls", "tcp", "exportTo"],
    always: [],
    isPart: true,
  },
  DestinationRule: {
    fields: ["host", "trafficPolicy", "subsets", "exportTo"],
    always: [],
    isPart: true,
  },
};

/**
 * Decodes a resource (an `istio.mcp.v1alpha1.Resource`) and gives it the form of the Kubernetes API, in
 * the newest served version: proto3's JSON without what has its default, but for location and
 * resolution, which always show. Throws `WireError` for bytes that are no such resource, `TypeError` for
 * a body of a kind that cannot be shown, or with fields that are not known here.
 */
export function renderResource(resource: Resource): RenderedObject {
  const { metadata, body } = mcpResourceCodec.decode(resource.bytes);
  const message = body?.typeUrl.replace(TYPE_PREFIX, "");
  const kind = KINDS.find((k) => k.message === message);
  const order = kind === undefined ? undefined : ORDER[kind.kind];
  if (body === undefined || kind === undefined || order === undefined) {
    throw new TypeError(`the body of ${resource.name} cannot be shown: ${message ?? "none"}`);
  }
  const spec = decode<Fields>(kind.message, body.value);
  // What is not known is skipped in reading, and must not look as if it were not there.
  if (order.isPart === true && encode(kind.message, spec).length !== body.value.length) {
    throw new TypeError(`the body of ${resource.name} cannot be shown: it has fields unknown here`);
  }
  const [name, namespace] = resource.name.split("/").reverse();
  return {
    apiVersion: `${kind.group}/${kind.versions[0]}`,
    kind: kind.kind,
    metadata: {
      name: name!,
      ...(namespace === undefined ? {} : { namespace }),
      ...nonEmpty("labels", metadata?.labels ?? {}),
      ...nonEmpty("annotations", metadata?.annotations ?? {}),
    },
    spec: Object.fromEntries(
      order.fields.filter((field) => order.always.includes(field) || !isDefault(spec[field]))
        .map((field) => [field, rendered(spec[field])]),
    ),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function nonEmpty<K extends string>(key: K, map: StringMap): { [P in K]?: StringMap } {
  if (Object.keys(map).length === 0) return {};
  return { [key]: sortedMap(map) } as { [P in K]: StringMap };
}

function rendered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rendered);
  if (isMap(value)) return sortedMap(value);
  if (value === null || typeof value !== "object") return value;
  const fields = Object.entries(value).filter(([, item]) => !isDefault(item));
  return Object.fromEntries(fields.map(([name, item]) => [name, renderedField(name, item)]));
}

function renderedField(name: string, item: unknown): unknown {
  if (WRAPPED.has(name)) return (item as Fields).value;
  return name === "timeout" ? durationText(item as Duration) : rendered(item);
}

function durationText({ seconds, nanos }: Duration): string {
  const fraction = String(nanos).padStart(9, "0").replace(/0+$/, "");
  return `${seconds}${fraction === "" ? "" : `.${fraction}`}s`;
}

/** Fields whose value is in a message of its own, so that zero differs from absent: written as the value alone. */
const WRAPPED: ReadonlySet<string> = new Set([
  "enabled",
  "consecutiveGatewayErrors",
  "consecutive5xxErrors",
  "consecutiveLocalOriginFailures",
]);

function sortedMap<V>(map: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.keys(map).sort().map((key) => [key, map[key]!]));
}

/** Empty scalars, lists and maps; a message that was sent is none, be it empty. */
function isDefault(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return value === undefined || value === "" || value === 0 || value === false;
}

/** The codec gives maps, and only these, as objects without a prototype. */
function isMap(value: unknown): value is Fields {
  return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === null;
}
