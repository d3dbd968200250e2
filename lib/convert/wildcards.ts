/**
 * Services whose traffic another one's rules take along: a VirtualService or DestinationRule for a
 * wildcard host holds for every host under it that has none of its own.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Service } from "../model/service.ts";
import { enumerate, quote } from "./rules/names.ts";
import { type RuleInfo, toFinding } from "./rules/rule.ts";

/** A wildcard host whose rules hold for other services as well. */
export const WILDCARD_RULE: RuleInfo = { id: "pinnace/traffic-wildcard", severity: "warning" };

/** Of each service with `split` or `failover` and a wildcard host: the services under it that have neither. Time grows with n. */
export function checkWildcards(
  services: readonly Service[],
): { readonly service: number; readonly finding: Finding }[] {
  const rulers = new Map<string, Ruler>();
  services.forEach((service, index) => {
    if (!isDirected(service)) return;
    service.hosts.forEach((host, place) => {
      if (host.startsWith("*.")) {
        rulers.set(host.slice(1).toLowerCase(), { index, place, under: new Set() });
      }
    });
  });
  if (rulers.size === 0) return [];
  for (const service of services) {
    if (isDirected(service)) continue;
    for (const host of service.hosts) {
      rulerOf(host.toLowerCase(), rulers)?.under.add(`${service.namespace}/${service.name}`);
    }
  }
  return [...rulers.values()].filter(({ under }) => under.size > 0).map((ruler) => ({
    service: ruler.index,
    finding: describe(services[ruler.index]!, ruler),
  }));
}

/** A wildcard host that traffic is directed of, and the services under it. */
interface Ruler {
  readonly index: number;
  readonly place: number;
  readonly under: Set<string>;
}

/** The longest wildcard that the host is under. */
function rulerOf(host: string, rulers: ReadonlyMap<string, Ruler>): Ruler | undefined {
  for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
    const ruler = rulers.get(host.slice(dot));
    if (ruler !== undefined) return ruler;
  }
  return undefined;
}

function describe({ namespace, name, hosts }: Service, { place, under }: Ruler): Finding {
  return toFinding(WILDCARD_RULE, `${namespace}/${name}`, [], {
    path: ["hosts", place],
    message: `what directs the traffic of ${quote(hosts[place]!)} also directs that of ` +
      `${enumerate([...under])}, with hosts under it`,
    hint: "give those a `split` of their own, or name the hosts of this service one by one",
  });
}

function isDirected({ split, failover }: Service): boolean {
  return split !== undefined || failover !== undefined;
}
