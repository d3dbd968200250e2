/**
 * What client views are made of: a service, whether it is our own or was taken from a ServiceEntry of
 * another source, and how the traffic to it is directed.
 *
 * @module
 */
import type { Service } from "../model/service.ts";
import type { EnvoySettings } from "../model/settings.ts";

/** A service as clients are to see it. Immutable; the same object as long as nothing of it changes. */
export interface ServedService {
  /** `namespace/name`. */
  readonly key: string;
  /** `hosts` are those that no service before it in the catalogue has. */
  readonly service: Service;
  readonly traffic: Traffic;
}

/** How traffic to a service is directed: of VirtualServices and DestinationRules, its own or others'. */
export interface Traffic {
  /** Labels of the endpoints of each subset, by its name; in the order of names. */
  readonly subsets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Routes of HTTP, HTTP2 and GRPC ports; the first that matches counts. Empty: all goes to the service. */
  readonly http: readonly HttpRoute[];
  /** Routes of TCP and TLS ports; the first that is for the port counts. None: all goes to the service. */
  readonly streams: readonly StreamRoute[];
  /** What the rules ask for and these clients do not get, each as a text for a person. */
  readonly unserved: readonly string[];
  /** Rules for its hosts that others go before, each as a text for a person. Absent: none. */
  readonly overruled?: readonly string[];
  /** The other services that traffic is sent to, by the host that it is sent to; a host that is not there is none's. */
  readonly elsewhere?: ReadonlyMap<string, Elsewhere>;
}

/** Another service that traffic is sent to. */
export interface Elsewhere {
  /** `hosts` are those that no service before it in the catalogue has; its selector's endpoints are left out. */
  readonly service: Service;
  /** Its subsets, as {@link Traffic} has them. */
  readonly subsets: Traffic["subsets"];
}

/** Where some share of the traffic goes. */
export interface WeightedTarget {
  /** A host, perhaps of another service. */
  readonly host: string;
  /** Absent: all its endpoints. */
  readonly subset?: string;
  /** Port of the target service; absent: the port that was called. */
  readonly port?: number;
  /** Share relative to the other targets; more than 0. */
  readonly weight: number;
}

/** Where connections go. */
export interface StreamRoute {
  /** For which ports it is: those that pass TLS on, or all that are neither that nor HTTP. */
  readonly kind: "tcp" | "tls";
  /** Port that was called; absent: any. */
  readonly port?: number;
  /** Empty: such connections are not to reach the service. */
  readonly to: readonly WeightedTarget[];
}

/** One route. */
export interface HttpRoute {
  /** Any of these; empty: every request. */
  readonly matches: readonly HttpMatch[];
  /** Empty: what matches is not to reach the service, and clients have nothing else for it. */
  readonly to: readonly WeightedTarget[];
  /** Milliseconds; absent: none. */
  readonly timeout?: number;
}

/** What a request must be like; all that is given must fit. */
export interface HttpMatch {
  readonly path?: TextMatch;
  readonly method?: TextMatch;
  readonly headers: Readonly<Record<string, TextMatch>>;
  /** Port that was called; absent: any. */
  readonly port?: number;
}

/** How a text must be. `present`: it must be there at all. */
export type TextMatch =
  | { readonly kind: "exact" | "prefix" | "regex"; readonly value: string }
  | { readonly kind: "present" };

/** Every service of a snapshot as clients are to see it. */
export interface Catalogue {
  /** By key; in the order of keys. */
  readonly services: ReadonlyMap<string, ServedService>;
  readonly context: ViewContext;
}

/** What views are made with besides services. The same object as long as it says the same. */
export interface ViewContext {
  /** `defaults.namespace`: where short names conflict, those of this namespace win. */
  readonly namespace: string;
  /** `defaults.domain`. */
  readonly domain: string;
  readonly envoy: EnvoySettings;
}

/** The newest IP addresses of DNS names, for clients that cannot look names up. */
export interface Addresses {
  /** Sorted; undefined: not known yet, or the name has none. */
  get(host: string): readonly string[] | undefined;
  /** Whether the first look-up of the name is under way, so that a view without its addresses is not to go out yet. Absent: never. */
  pending?(host: string): boolean;
}
