/**
 * `failover` for Istio. Its own failover goes from a client's locality to others; an order that is the
 * same for every client it knows by labels alone (`failoverPriority`): of a list of labels, the more of
 * them an endpoint has, counted from the first on, the sooner it is used. So endpoints get labels of ours,
 * the first to be used all of them, the next one less, and the last none.
 *
 * Istio heeds priorities only beside an `outlierDetection`. Ours leaves out what cannot be connected
 * to; an endpoint that answers with errors stays.
 *
 * @module
 */
import { prioritiesOf } from "../model/in_service.ts";
import { FAILOVER_LABEL } from "../model/own_names.ts";
import type { Endpoint, Service } from "../model/service.ts";
import type { Partially, TrafficPolicy } from "../wire/messages.ts";

/** Failures to connect in a row after which an endpoint is left out for a while, as is Envoy's default. */
const FAILURES = 5;

const LABEL_VALUE = "true";

/** The endpoints with the labels that {@link failoverPolicy} speaks of; the same ones without `failover`. */
export function withFailoverLabels(
  endpoints: readonly Endpoint[],
  { failover }: Pick<Service, "failover">,
): readonly Endpoint[] {
  if (failover === undefined) return endpoints;
  const priorities = prioritiesOf(endpoints, failover);
  const last = Math.max(0, ...priorities);
  return endpoints.map((endpoint, index) => {
    const labels = labelNames(last - priorities[index]!).map((name) => [name, LABEL_VALUE]);
    return labels.length === 0
      ? endpoint
      : { ...endpoint, labels: { ...endpoint.labels, ...Object.fromEntries(labels) } };
  });
}

/** The policy that puts these endpoints (those that the mesh is told of) in order; undefined where all come first. */
export function failoverPolicy(
  endpoints: readonly Endpoint[],
  { failover, minHealthy = 0 }: Pick<Service, "failover" | "minHealthy">,
): Partially<TrafficPolicy> | undefined {
  const last = Math.max(0, ...prioritiesOf(endpoints, failover));
  if (last === 0) return undefined;
  const minHealthPercent = Math.round(minHealthy * 100);
  return {
    loadBalancer: {
      localityLbSetting: {
        enabled: { value: true },
        failoverPriority: labelNames(last).map((name) => `${name}=${LABEL_VALUE}`),
      },
    },
    outlierDetection: {
      maxEjectionPercent: 100,
      ...(minHealthPercent === 0 ? {} : { minHealthPercent }),
      consecutiveGatewayErrors: { value: 0 },
      consecutive5xxErrors: { value: 0 },
      splitExternalLocalOriginErrors: true,
      consecutiveLocalOriginFailures: { value: FAILURES },
    },
  };
}

/** The first `count` labels. */
function labelNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${FAILOVER_LABEL}${index + 1}`);
}
