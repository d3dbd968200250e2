/**
 * How traffic to each host is directed, read from the VirtualServices and DestinationRules of a
 * snapshot, our own and those of other sources.
 *
 * Of several VirtualServices for a service the first counts, in the order of {@link Rulings.of};
 * subsets of several DestinationRules are put together, of two with one name the first counts.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Service } from "../model/service.ts";
import type { Collection } from "../snapshot/collection.ts";
import {
  type DestinationRule,
  destinationRuleCodec,
  mcpResourceCodec,
  type MessageCodec,
  type VirtualService,
  virtualServiceCodec,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { namespaceOf, type Ruling, Rulings } from "./rulings.ts";
import type { Traffic, ViewContext } from "./served_service.ts";
import { unservedPolicies } from "./unserved_policies.ts";
import { routesOf, type VirtualRoutes } from "./virtual_routes.ts";

/** Traffic that is not directed in any way. */
export const PLAIN_TRAFFIC: Traffic = { subsets: new Map(), http: [], streams: [], unserved: [] };

/** What a DestinationRule says. */
interface Destination {
  readonly subsets: DestinationRule["subsets"];
  /** What these clients do not get of it. */
  readonly unserved: readonly string[];
}

/** Knows the rules of the snapshot taken last. */
export class TrafficRules {
  readonly #routes = new Rulings<VirtualRoutes>(({ name, bytes }, context) => {
    const object = read(virtualServiceCodec, bytes);
    if (object === undefined || !isForMesh(object)) return undefined;
    const { exportTo } = object;
    const hosts = object.hosts.map((host) => fullHost(host, name, context));
    const content = routesOf(object, (host) => fullHost(host, name, context));
    return { name, hosts, exportTo, content };
  });
  readonly #destinations = new Rulings<Destination>(({ name, bytes }, context) => {
    const object = read(destinationRuleCodec, bytes);
    if (object === undefined) return undefined;
    const { exportTo, subsets } = object;
    const hosts = [fullHost(object.host, name, context)];
    return { name, hosts, exportTo, content: { subsets, unserved: unservedPolicies(object) } };
  });

  /** Takes the rules of these collections; gives the hosts of which the rules changed. */
  take(collections: ReadonlyMap<string, Collection>, context: ViewContext): string[] {
    return [
      ...this.#routes.take(collections.get("VirtualService"), context),
      ...this.#destinations.take(collections.get("DestinationRule"), context),
    ];
  }

  /** How traffic to this service is directed. */
  of(service: Service): Traffic {
    const [routes, ...others] = this.#routes.of(service);
    const destinations = this.#destinations.of(service);
    if (routes === undefined && destinations.length === 0) return PLAIN_TRAFFIC;
    const { subsets, lost } = subsetsOf(destinations);
    const { http, streams, unserved } = routes?.content ?? PLAIN_TRAFFIC;
    const losers = others.filter(({ hosts }) =>
      hosts.some((host) => rivals(host, routes!, service))
    );
    const overruled = [
      ...losers.map(({ name }) =>
        `VirtualService ${name} is not, since ${routes!.name} goes before it`
      ),
      ...lost,
    ];
    return {
      subsets,
      http,
      streams,
      unserved: [
        ...unserved.map((what) => `${what} (VirtualService ${routes?.name})`),
        ...destinations.flatMap(({ name, content }) =>
          content.unserved.map((what) => `${what} (DestinationRule ${name})`)
        ),
      ],
      ...(overruled.length === 0 ? {} : { overruled }),
    };
  }
}

/** Whether an object for this host is for what that one rules. A wildcard that is wider than it is meant for others. */
function rivals(host: string, { hosts }: Ruling<unknown>, service: Service): boolean {
  return service.hosts.includes(host) || hosts.includes(host);
}

/** The subsets of these objects, in the order of names, and which were there already with other labels. */
function subsetsOf(destinations: readonly Ruling<Destination>[]) {
  const found = new Map<string, { labels: Readonly<Record<string, string>>; of: string }>();
  const lost: string[] = [];
  for (const { name: of, content } of destinations) {
    for (const { name, labels } of content.subsets) {
      const first = found.get(name);
      if (first === undefined) found.set(name, { labels, of });
      else if (!isDeepStrictEqual(first.labels, labels)) {
        lost.push(
          `subset ${name} of DestinationRule ${of} is not, since ${first.of} goes before it`,
        );
      }
    }
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return { subsets: new Map(sorted.map(([name, { labels }]) => [name, labels])), lost };
}

/** A VirtualService that names only gateways is for those. */
function isForMesh({ gateways }: VirtualService): boolean {
  return gateways.length === 0 || gateways.includes("mesh");
}

/** A host without a dot is a service of the object's own namespace. */
function fullHost(host: string, objectName: string, { domain }: ViewContext): string {
  const small = host.toLowerCase();
  if (small.includes(".") || small === "*") return small;
  return `${small}.${namespaceOf(objectName)}.${domain}`;
}

/** Undefined where the bytes are no such object. */
function read<T>(codec: MessageCodec<T>, bytes: Uint8Array): T | undefined {
  try {
    const { body } = mcpResourceCodec.decode(bytes);
    return body && codec.decode(body.value);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return undefined;
  }
}
