/**
 * Rules for what a service says of its traffic: that Istio can be told of it.
 *
 * @module
 */
import type { Finding } from "../../model/finding.ts";
import type { Service } from "../../model/service.ts";
import { scaledWeights, sortPorts, WHOLE } from "../traffic.ts";
import { isIstioTagKey, isIstioTagValue, quote, suggestLabelValue } from "./names.ts";
import { andMore, FINDINGS_PER_RULE, type Problem, type RuleInfo, toFinding } from "./rule.ts";

type TrafficRule = RuleInfo & { readonly check: (service: Service) => readonly Problem[] };

const trafficHost: TrafficRule = {
  id: "pinnace/traffic-host",
  severity: "error",
  check: ({ hosts, subsets, split, failover }) => {
    if (subsets === undefined && split === undefined && failover === undefined) return [];
    return hosts.flatMap((host, index) =>
      host.includes(".") ? [] : [{
        path: ["hosts", index],
        message: `traffic to the host ${quote(host)} cannot be directed: as the host of a ` +
          "VirtualService or DestinationRule a name without a dot is a service of the mesh's own",
        hint: "name the host in full, or take out `subsets`, `split` and `failover`",
      }]
    );
  },
};

const subsetLabel: TrafficRule = {
  id: "pinnace/subset-label",
  severity: "error",
  check: ({ subsets = {} }) =>
    Object.entries(subsets).flatMap(([name, labels]) =>
      Object.entries(labels).flatMap(([key, value]): Problem[] => {
        const path = ["subsets", name, key];
        if (!isIstioTagKey(key)) {
          return [{ path, message: `${quote(key)} cannot be the key of a label` }];
        }
        if (isIstioTagValue(value)) return [];
        const suggestion = suggestLabelValue(value);
        const message = `${quote(value)} cannot be the value of a label`;
        return [
          suggestion === undefined
            ? { path, message }
            : { path, message, hint: `write ${suggestion}, here and at the endpoints` },
        ];
      })
    ),
};

const splitSum: TrafficRule = {
  id: "pinnace/split-sum",
  severity: "warning",
  check: ({ split }) => {
    const weights = split === undefined ? [] : scaledWeights(split).map(([, weight]) => weight);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    if (weights.length < 2 || sum === WHOLE) return [];
    return [{
      path: ["split"],
      message: `the weights add up to ${sum}, and cannot be scaled to ${WHOLE} without a rest: ` +
        "the Istios that are sinks of MCP (1.1 to 1.7) refuse such a VirtualService",
      hint: `where one of them is served, choose weights that add up to ${WHOLE}`,
    }];
  },
};

const splitPort: TrafficRule = {
  id: "pinnace/split-port",
  severity: "warning",
  check: ({ split, ports }) => {
    if (split === undefined) return [];
    const { http, tls, tcp } = sortPorts(ports);
    const routed = new Set([...http, ...tls, ...tcp]);
    return ports.flatMap((port, index) =>
      routed.has(port) ? [] : [{
        path: ["ports", index],
        message: `\`split\` has no effect on ${port.protocol} port ${port.number}`,
      }]
    );
  },
};

/** Rules for what a service says of its traffic. */
export const TRAFFIC_RULES: readonly TrafficRule[] = [
  trafficHost,
  subsetLabel,
  splitSum,
  splitPort,
];

/** What is wrong with what a service says of its traffic. Paths are relative to the service. */
export function checkTraffic(service: Service): Finding[] {
  const about = `${service.namespace}/${service.name}`;
  return TRAFFIC_RULES.flatMap((rule) => {
    const problems = rule.check(service);
    const more = problems.length - FINDINGS_PER_RULE;
    const shown = problems.slice(0, FINDINGS_PER_RULE).map((one) =>
      toFinding(rule, about, [], one)
    );
    return more > 0 ? [...shown, andMore(rule, about, more)] : shown;
  });
}
