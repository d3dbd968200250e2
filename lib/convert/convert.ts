/**
 * From a service to the resources that sinks get: labels that cannot be are dropped, rules are run, and
 * what has no error is encoded. Pure: the same service gives the same bytes everywhere.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { OwnKind } from "../model/own_names.ts";
import type { Endpoint, Service } from "../model/service.ts";
import {
  type Any,
  destinationRuleCodec,
  serviceEntryCodec,
  virtualServiceCodec,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { endpointsInService } from "./drain.ts";
import { encodeResource } from "./encode_resource.ts";
import { withFailoverLabels } from "./failover.ts";
import { dropLabels } from "./labels.ts";
import { completeServiceEntry } from "./messages.ts";
import { type RuleInfo, runRules, toFinding, withoutReplaced } from "./rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "./rules/service_entry_rules.ts";
import { checkTraffic } from "./rules/traffic_rules.ts";
import { toServiceEntry } from "./service_entry.ts";
import { toDestinationRules, toVirtualService } from "./traffic.ts";

export { encodeResource } from "./encode_resource.ts";

/** One object that a service became. */
export interface Converted {
  readonly kind: OwnKind;
  readonly resource: Resource;
}

/** What a service came to. */
export interface Conversion {
  /** The ServiceEntry. Absent where any finding is an error. */
  readonly resource?: Resource;
  /** Every object, the ServiceEntry first; none where any finding is an error. */
  readonly resources: readonly Converted[];
  /** Paths are relative to the service. */
  readonly findings: readonly Finding[];
}

/** What the codec cannot take, and no other rule names. */
export const ENCODING_RULE: RuleInfo = { id: "pinnace/encoding", severity: "error" };

/** The objects of a service, each an encoded `istio.mcp.v1alpha1.Resource`, and what there is to say about it. */
export function convertService(service: Service): Conversion {
  const { service: clean, findings: dropped } = dropLabels(service);
  // Endpoints that drain are none of the mesh's business, but have to be right all the same.
  const message = toServiceEntry(clean);
  const subject = { metadata: clean, spec: completeServiceEntry(message) };
  const found = withoutReplaced(SERVICE_ENTRY_RULES, runRules(SERVICE_ENTRY_RULES, subject));
  const { endpoints, findings: drained } = endpointsInService(clean);
  const findings = [...dropped, ...found, ...checkTraffic(clean), ...drained];
  if (findings.some(({ severity }) => severity === "error")) return { resources: [], findings };
  try {
    const shown = withFailoverLabels(endpoints, clean);
    const entry = shown === clean.endpoints
      ? message
      : toServiceEntry({ ...clean, endpoints: shown });
    const resource = encodeResource(clean, serviceEntryCodec.pack(entry));
    const rules = encodeRules(clean, endpoints);
    return { resource, resources: [{ kind: "ServiceEntry", resource }, ...rules], findings };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const problem = { path: [], message: error.message };
    const name = `${service.namespace}/${service.name}`;
    const finding = toFinding(ENCODING_RULE, name, [], problem);
    return { resources: [], findings: [...findings, finding] };
  }
}

/** The objects that direct traffic. They have the labels of the service, so that who is given it gets them too. */
function encodeRules(service: Service, endpoints: readonly Endpoint[]): Converted[] {
  const { name, namespace, labels } = service;
  const encode = (kind: OwnKind, own: string, body: Any): Converted => ({
    kind,
    resource: encodeResource({ name: own, namespace, labels, annotations: {} }, body),
  });
  const virtual = toVirtualService(service);
  return [
    ...(virtual === undefined
      ? []
      : [encode("VirtualService", name, virtualServiceCodec.pack(virtual))]),
    ...toDestinationRules(service, endpoints).map((rule) =>
      encode("DestinationRule", rule.name, destinationRuleCodec.pack(rule.message))
    ),
  ];
}
