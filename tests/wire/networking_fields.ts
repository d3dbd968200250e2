/**
 * The properties of the interfaces of package `istio.networking.v1alpha3`, by message. The compiler
 * sees to it that none is missing and none too many.
 *
 * @module
 */
import type * as messages from "../../lib/wire/messages.ts";

function keys<T>(of: Record<keyof Required<T>, true>): Readonly<Record<string, true>> {
  return of;
}

const HTTP_MATCH = keys<messages.HTTPMatchRequest>({
  name: true,
  uri: true,
  scheme: true,
  method: true,
  authority: true,
  headers: true,
  port: true,
  sourceLabels: true,
  gateways: true,
  queryParams: true,
  ignoreUriCase: true,
  withoutHeaders: true,
  sourceNamespace: true,
  statPrefix: true,
});

const FIELDS: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  ServiceEntry: keys<messages.ServiceEntry>({
    hosts: true,
    addresses: true,
    ports: true,
    location: true,
    resolution: true,
    endpoints: true,
    exportTo: true,
    subjectAltNames: true,
    workloadSelector: true,
  }),
  ServicePort: keys<messages.ServiceEntryPort>({
    number: true,
    protocol: true,
    name: true,
    targetPort: true,
  }),
  WorkloadEntry: keys<messages.WorkloadEntry>({
    address: true,
    ports: true,
    labels: true,
    network: true,
    locality: true,
    weight: true,
    serviceAccount: true,
  }),
  WorkloadSelector: keys<messages.WorkloadSelector>({ labels: true }),
  VirtualService: keys<messages.VirtualService>({
    hosts: true,
    gateways: true,
    http: true,
    tcp: true,
    tls: true,
    exportTo: true,
  }),
  Destination: keys<messages.Destination>({ host: true, subset: true, port: true }),
  HTTPRoute: keys<messages.HTTPRoute>({
    name: true,
    match: true,
    route: true,
    timeout: true,
    redirect: true,
    rewrite: true,
    delegate: true,
    directResponse: true,
    retries: true,
    fault: true,
    mirror: true,
    mirrors: true,
    mirrorPercent: true,
    mirrorPercentage: true,
    corsPolicy: true,
    headers: true,
  }),
  HTTPMatchRequest: HTTP_MATCH,
  StringMatch: keys<messages.StringMatch>({ exact: true, prefix: true, regex: true }),
  HTTPRouteDestination: keys<messages.HTTPRouteDestination>({
    destination: true,
    weight: true,
    headers: true,
  }),
  RouteDestination: keys<messages.RouteDestination>({ destination: true, weight: true }),
  TCPRoute: keys<messages.TCPRoute>({ match: true, route: true }),
  L4MatchAttributes: keys<messages.L4MatchAttributes>({
    destinationSubnets: true,
    port: true,
    sourceSubnet: true,
    sourceLabels: true,
    gateways: true,
    sourceNamespace: true,
  }),
  TLSRoute: keys<messages.TLSRoute>({ match: true, route: true }),
  TLSMatchAttributes: keys<messages.TLSMatchAttributes>({
    sniHosts: true,
    destinationSubnets: true,
    port: true,
    sourceLabels: true,
    gateways: true,
    sourceNamespace: true,
  }),
  DestinationRule: keys<messages.DestinationRule>({
    host: true,
    trafficPolicy: true,
    subsets: true,
    exportTo: true,
  }),
  Subset: keys<messages.Subset>({ name: true, labels: true, trafficPolicy: true }),
  TrafficPolicy: keys<messages.TrafficPolicy>({
    loadBalancer: true,
    outlierDetection: true,
    connectionPool: true,
    tls: true,
    portLevelSettings: true,
    tunnel: true,
    proxyProtocol: true,
    retryBudget: true,
  }),
  LoadBalancerSettings: keys<NonNullable<messages.TrafficPolicy["loadBalancer"]>>({
    localityLbSetting: true,
  }),
  LocalityLoadBalancerSetting: keys<messages.LocalityLoadBalancerSetting>({
    enabled: true,
    failoverPriority: true,
  }),
  OutlierDetection: keys<messages.OutlierDetection>({
    maxEjectionPercent: true,
    minHealthPercent: true,
    consecutiveGatewayErrors: true,
    consecutive5xxErrors: true,
    splitExternalLocalOriginErrors: true,
    consecutiveLocalOriginFailures: true,
  }),
};

/** By full name of the message. */
export const NETWORKING_FIELDS: Readonly<Record<string, Readonly<Record<string, true>>>> = Object
  .fromEntries(
    Object.entries(FIELDS).map(([name, fields]) => [`istio.networking.v1alpha3.${name}`, fields]),
  );
