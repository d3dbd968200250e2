/**
 * From a service to the resource that sinks get: labels that cannot be are dropped, rules are run, and
 * what has no error is encoded. Pure: the same service gives the same bytes everywhere.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";
import { contentHash } from "../wire/hash.ts";
import { type Any, mcpResourceCodec, serviceEntryCodec, type StringMap } from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { dropLabels } from "./labels.ts";
import { completeServiceEntry } from "./messages.ts";
import {
  type Metadata,
  type RuleInfo,
  runRules,
  toFinding,
  withoutReplaced,
} from "./rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "./rules/service_entry_rules.ts";
import { toServiceEntry } from "./service_entry.ts";

/** What a service came to. */
export interface Conversion {
  /** Absent where any finding is an error. */
  readonly resource?: Resource;
  /** Paths are relative to the service. */
  readonly findings: readonly Finding[];
}

/** 2020-01-01T00:00:00Z: a time that never moves, for resources that have none of their own. */
const CREATE_TIME = { seconds: 1577836800, nanos: 0 };

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

/** A resource of this body. Its version says content only: body, labels and annotations. */
export function encodeResource(metadata: Metadata, body: Any): Resource {
  const name = `${metadata.namespace}/${metadata.name}`;
  const { labels, annotations } = metadata;
  const version = contentHash([body.value, mapsText(labels, annotations)]);
  const bytes = mcpResourceCodec.encode({
    metadata: { name, createTime: CREATE_TIME, version, labels, annotations },
    body,
  });
  return { name, version, bytes };
}

/** Pairs in the order of their keys: unlike an object, an array keeps that order for numeric keys as well. */
function mapsText(...maps: readonly StringMap[]): string {
  return JSON.stringify(
    maps.map((map) => Object.keys(map).sort().map((key) => [key, map[key]])),
  );
}
