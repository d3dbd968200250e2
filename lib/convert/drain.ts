/**
 * Endpoints that drain, for Istio, which knows no such thing: they are left out of the ServiceEntry, so
 * that nothing new is sent to them; what they have goes on.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { hasLabels, honoursDrain } from "../model/in_service.ts";
import type { Endpoint, Service } from "../model/service.ts";
import { enumerate } from "./rules/names.ts";
import { type RuleInfo, toFinding } from "./rules/rule.ts";

/** Endpoints that drain and stay in service, since too few would be left. */
export const DRAIN_RULE: RuleInfo = { id: "pinnace/drain-ignored", severity: "warning" };

/** The endpoints that a mesh is told of (those of the service itself where none drains), and what there is to say of it. */
export function endpointsInService(
  service: Service,
): { readonly endpoints: readonly Endpoint[]; readonly findings: readonly Finding[] } {
  const { endpoints } = service;
  const draining = endpoints.filter(({ drain }) => drain === true);
  if (draining.length === 0) return { endpoints, findings: [] };
  if (!honoursDrain(service)) return { endpoints, findings: [ignoredFinding(service, draining)] };
  const drained = drainedSubsets(service);
  const isKept = (endpoint: Endpoint) =>
    endpoint.drain !== true || drained.some(([, labels]) => hasLabels(endpoint, labels));
  return {
    endpoints: endpoints.filter(isKept),
    findings: drained.length === 0 ? [] : [subsetFinding(service, drained.map(([name]) => name))],
  };
}

type Subset = readonly [name: string, labels: Readonly<Record<string, string>>];

/** Subsets that `split` sends traffic to and of which every endpoint drains. */
function drainedSubsets({ subsets = {}, split = {}, endpoints }: Service): readonly Subset[] {
  return Object.entries(subsets).filter(([name, labels]) => {
    if ((split[name] ?? 0) === 0) return false;
    const members = endpoints.filter((endpoint) => hasLabels(endpoint, labels));
    return members.length > 0 && members.every(({ drain }) => drain === true);
  });
}

function ignoredFinding(service: Service, draining: readonly Endpoint[]): Finding {
  const { endpoints, minHealthy = 0 } = service;
  const staying = endpoints.length - draining.length;
  const index = endpoints.indexOf(draining[0]!);
  const isAll = staying === 0;
  return toFinding(DRAIN_RULE, nameOf(service), [], {
    path: ["endpoints", index, "drain"],
    message: isAll
      ? "every endpoint drains, so all of them stay in service"
      : `${staying} of ${endpoints.length} endpoints do not drain, which is less than ` +
        `\`minHealthy\` (${percent(minHealthy)}), so all of them stay in service`,
    hint: isAll
      ? "add endpoints that do not, or take the service out"
      : "add endpoints, or let fewer drain at a time",
  });
}

function subsetFinding(service: Service, names: readonly string[]): Finding {
  const plural = names.length === 1 ? "subset" : "subsets";
  return toFinding(DRAIN_RULE, nameOf(service), [], {
    path: ["split", names[0]!],
    message: `every endpoint of the ${plural} ${enumerate(names)} drains, and \`split\` sends ` +
      "traffic there, so these endpoints stay in service",
    hint: "give what drains the weight 0 under `split`",
  });
}

function nameOf({ namespace, name }: Service): string {
  return `${namespace}/${name}`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}
