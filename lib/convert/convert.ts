/**
 * From a service to the resource that sinks get: labels that cannot be are dropped, rules are run, and
 * what has no error is encoded. Pure: the same service gives the same bytes everywhere.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";
import { serviceEntryCodec } from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { encodeResource } from "./encode_resource.ts";
import { dropLabels } from "./labels.ts";
import { completeServiceEntry } from "./messages.ts";
import { type RuleInfo, runRules, toFinding, withoutReplaced } from "./rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "./rules/service_entry_rules.ts";
import { toServiceEntry } from "./service_entry.ts";

export { encodeResource } from "./encode_resource.ts";

/** What a service came to. */
export interface Conversion {
  /** Absent where any finding is an error. */
  readonly resource?: Resource;
  /** Paths are relative to the service. */
  readonly findings: readonly Finding[];
}

/** What the codec cannot take, and no other rule names. */
export const ENCODING_RULE: RuleInfo = { id: "pinnace/encoding", severity: "error" };

/** The ServiceEntry of a service, as an encoded `istio.mcp.v1alpha1.Resource`, and what there is to say about it. */
export function convertService(service: Service): Conversion {
  const { service: clean, findings: dropped } = dropLabels(service);
  const message = toServiceEntry(clean);
  const subject = { metadata: clean, spec: completeServiceEntry(message) };
  const found = withoutReplaced(SERVICE_ENTRY_RULES, runRules(SERVICE_ENTRY_RULES, subject));
  const findings = [...dropped, ...found];
  if (findings.some(({ severity }) => severity === "error")) return { findings };
  try {
    return { resource: encodeResource(clean, serviceEntryCodec.pack(message)), findings };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const problem = { path: [], message: error.message };
    const name = `${service.namespace}/${service.name}`;
    return { findings: [...findings, toFinding(ENCODING_RULE, name, [], problem)] };
  }
}
