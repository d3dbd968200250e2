/**
 * Istio's objects, package `istio.networking.v1alpha3`.
 *
 * @module
 */
import type { Duration, StringMap } from "./common.ts";

/** `istio.networking.v1alpha3.ServiceEntry`. */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly ports: readonly ServiceEntryPort[];
  readonly location: "MESH_EXTERNAL" | "MESH_INTERNAL" | number;
  readonly resolution: "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS" | number;
  readonly endpoints: readonly WorkloadEntry[];
  readonly exportTo: readonly string[];
  readonly subjectAltNames: readonly string[];
  readonly workloadSelector?: WorkloadSelector;
}

/** `istio.networking.v1alpha3.ServicePort`. */
export interface ServiceEntryPort {
  readonly number: number;
  readonly protocol: string;
  readonly name: string;
  /** 0: the same as `number`. */
  readonly targetPort: number;
}

/** `istio.networking.v1alpha3.WorkloadEntry`. */
export interface WorkloadEntry {
  readonly address: string;
  readonly ports: StringMap<number>;
  readonly labels: StringMap;
  readonly network: string;
  readonly locality: string;
  readonly weight: number;
  readonly serviceAccount: string;
}

/** `istio.networking.v1alpha3.WorkloadSelector`. */
export interface WorkloadSelector {
  readonly labels: StringMap;
}

/** `istio.networking.v1alpha3.VirtualService`. */
export interface VirtualService {
  readonly hosts: readonly string[];
  /** Empty: sidecars alone, as `mesh`. */
  readonly gateways: readonly string[];
  readonly http: readonly HTTPRoute[];
  readonly tcp: readonly TCPRoute[];
  readonly tls: readonly TLSRoute[];
  readonly exportTo: readonly string[];
}

/** `istio.networking.v1alpha3.Destination`. */
export interface Destination {
  readonly host: string;
  /** Empty: every endpoint. */
  readonly subset: string;
  /** Absent: the port that was called. */
  readonly port?: { readonly number: number };
}

/** `istio.networking.v1alpha3.HTTPRoute`; of what is done to requests on their way only that it is asked for. */
export interface HTTPRoute {
  readonly name: string;
  /** Any of these; empty: every request. */
  readonly match: readonly HTTPMatchRequest[];
  readonly route: readonly HTTPRouteDestination[];
  readonly timeout?: Duration;
  /** That it answers with a redirect; what to is not read. So for those below. */
  readonly redirect?: Nothing;
  readonly rewrite?: Nothing;
  readonly delegate?: Nothing;
  readonly directResponse?: Nothing;
  readonly retries?: Nothing;
  readonly fault?: Nothing;
  readonly mirror?: Destination;
  readonly mirrors: readonly Nothing[];
  readonly mirrorPercent?: { readonly value: number };
  readonly mirrorPercentage?: Nothing;
  readonly corsPolicy?: Nothing;
  readonly headers?: Nothing;
}

/** A message of which nothing is read but that it is there. */
export type Nothing = Readonly<Record<never, never>>;

/** `istio.networking.v1alpha3.HTTPMatchRequest`: all that is given must fit. */
export interface HTTPMatchRequest {
  readonly name: string;
  readonly uri?: StringMatch;
  readonly scheme?: StringMatch;
  readonly method?: StringMatch;
  readonly authority?: StringMatch;
  /** A match that is empty: the header is there at all. */
  readonly headers: StringMap<StringMatch>;
  /** 0: any. */
  readonly port: number;
  readonly sourceLabels: StringMap;
  readonly gateways: readonly string[];
  readonly queryParams: StringMap<StringMatch>;
  readonly ignoreUriCase: boolean;
  readonly withoutHeaders: StringMap<StringMatch>;
  readonly sourceNamespace: string;
  readonly statPrefix: string;
}

/** `istio.networking.v1alpha3.StringMatch`: at most one of these is set. */
export interface StringMatch {
  readonly exact?: string;
  readonly prefix?: string;
  readonly regex?: string;
}

/** `istio.networking.v1alpha3.HTTPRouteDestination`. */
export interface HTTPRouteDestination extends RouteDestination {
  readonly headers?: Nothing;
}

/** `istio.networking.v1alpha3.RouteDestination`. */
export interface RouteDestination {
  readonly destination?: Destination;
  /** Share of the traffic; 0 for one alone means all of it. */
  readonly weight: number;
}

/** `istio.networking.v1alpha3.TCPRoute`. */
export interface TCPRoute {
  readonly match: readonly L4MatchAttributes[];
  readonly route: readonly RouteDestination[];
}

/** `istio.networking.v1alpha3.L4MatchAttributes`. */
export interface L4MatchAttributes {
  readonly destinationSubnets: readonly string[];
  /** 0: any. */
  readonly port: number;
  readonly sourceSubnet: string;
  readonly sourceLabels: StringMap;
  readonly gateways: readonly string[];
  readonly sourceNamespace: string;
}

/** `istio.networking.v1alpha3.TLSRoute`. */
export interface TLSRoute {
  readonly match: readonly TLSMatchAttributes[];
  readonly route: readonly RouteDestination[];
}

/** `istio.networking.v1alpha3.TLSMatchAttributes`. */
export interface TLSMatchAttributes {
  readonly sniHosts: readonly string[];
  readonly destinationSubnets: readonly string[];
  /** 0: any. */
  readonly port: number;
  readonly sourceLabels: StringMap;
  readonly gateways: readonly string[];
  readonly sourceNamespace: string;
}

/** `istio.networking.v1alpha3.DestinationRule`; of policies that Pinnace does not make only that they are there. */
export interface DestinationRule {
  readonly host: string;
  readonly trafficPolicy?: TrafficPolicy;
  readonly subsets: readonly Subset[];
  readonly exportTo: readonly string[];
}

/** `istio.networking.v1alpha3.Subset`: the endpoints that have all these labels. */
export interface Subset {
  readonly name: string;
  readonly labels: StringMap;
  readonly trafficPolicy?: TrafficPolicy;
}

/** `istio.networking.v1alpha3.TrafficPolicy`. */
export interface TrafficPolicy {
  readonly loadBalancer?: { readonly localityLbSetting?: LocalityLoadBalancerSetting };
  readonly outlierDetection?: OutlierDetection;
  readonly connectionPool?: Nothing;
  readonly tls?: Nothing;
  readonly portLevelSettings: readonly Nothing[];
  readonly tunnel?: Nothing;
  readonly proxyProtocol?: Nothing;
  readonly retryBudget?: Nothing;
}

/** `istio.networking.v1alpha3.LocalityLoadBalancerSetting`. */
export interface LocalityLoadBalancerSetting {
  readonly enabled?: { readonly value: boolean };
  /** Labels as `key=value`: the more of them an endpoint has, from the first on, the sooner it is used. */
  readonly failoverPriority: readonly string[];
}

/** `istio.networking.v1alpha3.OutlierDetection`. */
export interface OutlierDetection {
  /** 0: Envoy's default. */
  readonly maxEjectionPercent: number;
  /** Share of endpoints in use below which ejected ones are used as well. */
  readonly minHealthPercent: number;
  readonly consecutiveGatewayErrors?: { readonly value: number };
  readonly consecutive5xxErrors?: { readonly value: number };
  /** Whether failures to connect are counted apart from answers. */
  readonly splitExternalLocalOriginErrors: boolean;
  readonly consecutiveLocalOriginFailures?: { readonly value: number };
}
