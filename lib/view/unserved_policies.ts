/**
 * Policies of DestinationRules that clients that are served directly are not given: none but those of our
 * own `failover`, which they get as priorities.
 *
 * @module
 */
import { FAILOVER_LABEL } from "../model/own_names.ts";
import type { DestinationRule, TrafficPolicy } from "../wire/messages.ts";

/** What of the rule these clients do not get, each as a text for a person. */
export function unservedPolicies({ trafficPolicy, subsets }: DestinationRule): string[] {
  return [
    ...unservedPolicy(trafficPolicy, "the trafficPolicy"),
    ...subsets.flatMap((subset) =>
      unservedPolicy(subset.trafficPolicy, `the trafficPolicy of subset ${subset.name}`)
    ),
  ];
}

function unservedPolicy(policy: TrafficPolicy | undefined, what: string): string[] {
  if (policy === undefined) return [];
  const { tls, connectionPool, loadBalancer, outlierDetection, portLevelSettings } = policy;
  const { tunnel, proxyProtocol, retryBudget } = policy;
  const balancing = isFailover(policy) ? {} : { loadBalancer, outlierDetection };
  const given = { tls, connectionPool, ...balancing, tunnel, proxyProtocol, retryBudget };
  const names = Object.entries(given).filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (portLevelSettings.length > 0) names.push("portLevelSettings");
  return names.length === 0 ? [] : [`${what} (${names.join(", ")})`];
}

/** Whether it is what a `failover` becomes, perhaps that of another Pinnace. */
function isFailover({ loadBalancer }: TrafficPolicy): boolean {
  const labels = loadBalancer?.localityLbSetting?.failoverPriority ?? [];
  return labels.length > 0 && labels.every((label) => label.startsWith(FAILOVER_LABEL));
}
