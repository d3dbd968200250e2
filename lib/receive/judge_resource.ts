/**
 * Judges one resource of another source.
 *
 * @module
 */
import { CREATE_TIME, encodeResource } from "../convert/encode_resource.ts";
import { METADATA_RULES } from "../convert/rules/metadata_rules.ts";
import {
  isKubernetesLabel,
  isKubernetesSubdomain,
  isLabelValue,
  isQualifiedName,
  quote,
  suggestLabel,
  suggestLabelValue,
  suggestName,
} from "../convert/rules/names.ts";
import { type Metadata, type Rule, runRules, withoutReplaced } from "../convert/rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "../convert/rules/service_entry_rules.ts";
import { WORKLOAD_ENTRY_RULES } from "../convert/rules/workload_entry_rules.ts";
import type { Finding } from "../model/finding.ts";
import type { Kind } from "../model/kind.ts";
import { matchesAny } from "../model/pattern.ts";
import {
  type Any,
  type McpMetadata,
  type MessageCodec,
  serviceEntryCodec,
  type Timestamp,
  workloadEntryCodec,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import type { PushItem } from "./read_push.ts";
import type { ReceivedResource } from "./received.ts";
import { isWellFormed } from "./well_formed.ts";

/** What a resource is judged by. */
export interface ResourceContext {
  readonly kind: Kind;
  /** Patterns of namespaces that the source may fill; empty: all. */
  readonly namespaces: readonly string[];
}

/** What a resource came to: one with an error is not there. */
export interface ResourceVerdict {
  readonly received?: ReceivedResource;
  readonly findings: readonly Finding[];
}

/** Findings of one rule on one resource. */
const FINDINGS_PER_RULE = 3;

/** Longest name that is repeated to a person. */
const SUBJECT_LENGTH = 320;

/** The last second that a `google.protobuf.Timestamp` may have: 9999-12-31T23:59:59Z. */
const LAST_SECOND = 253402300799;

/** Judges one resource. Pure. */
export function judgeResource(item: PushItem, context: ResourceContext): ResourceVerdict {
  const subject = subjectOf(item.label);
  const metadata = item.resource?.metadata;
  if (item.problem !== undefined || item.resource === undefined) {
    return refused(subject, "receive/resource", item.problem ?? "it holds no resource");
  }
  if (metadata === undefined || metadata.name === "") {
    const hint = "write namespace/name into metadata.name";
    return refused(subject, "receive/name", "the resource has no name", hint);
  }
  const parts = splitName(metadata.name);
  if ("problem" in parts) return refused(subject, "receive/name", parts.problem, parts.hint);
  const problems = [
    ...checkPlace(item, metadata.name, parts.namespace, context.namespaces),
    ...checkLabels(metadata),
  ].map((problem) => findingOf(subject, problem));
  const { labels, annotations } = metadata;
  const body = checkBody(item.resource.body, { ...parts, labels, annotations }, context.kind);
  const findings = [
    ...problems,
    ...body.findings.map((finding) => ({ ...finding, subject })),
  ];
  if (body.value === undefined || findings.some(isError)) return { findings };
  return accept(item, metadata, parts, body.value, context.kind, findings);
}

function accept(
  { told }: PushItem,
  { createTime, labels, annotations }: McpMetadata,
  parts: NameParts,
  value: Uint8Array,
  { message }: Kind,
  findings: readonly Finding[],
): ResourceVerdict {
  const body = { typeUrl: `type.googleapis.com/${message}`, value };
  const resource = encodeResource({ ...parts, labels, annotations }, body, timeOf(createTime));
  return { received: { resource, told }, findings };
}

/** A time that every sink takes. None at all would make a Pilot push everything. */
function timeOf(time: Timestamp | undefined): Timestamp {
  if (time === undefined) return CREATE_TIME;
  const { seconds, nanos } = time;
  const isSet = seconds > 0 || (Number(seconds) === 0 && nanos > 0);
  return isSet && seconds <= LAST_SECOND && nanos >= 0 && nanos < 1e9 ? time : CREATE_TIME;
}

interface NameParts {
  readonly namespace: string;
  readonly name: string;
}

interface Problem {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
}

function splitName(full: string): NameParts | { readonly problem: string; readonly hint: string } {
  const [namespace, name, ...more] = full.split("/", 3);
  if (namespace === "") {
    const rest = full.slice(1);
    const right = rest.includes("/") ? quote(rest) : "namespace/name";
    return {
      problem: `the name ${quote(full)} begins with a slash`,
      hint: `write ${right}`,
    };
  }
  if (namespace === undefined || name === undefined || more.length > 0) {
    return {
      problem: `the name ${quote(full)} has ${name === undefined ? "no slash" : "several slashes"}`,
      hint: "write namespace/name, with exactly one slash",
    };
  }
  if (!isKubernetesLabel(namespace)) {
    const right = suggestLabel(namespace);
    return {
      problem: `${quote(namespace)} in ${quote(full)} cannot be a namespace`,
      hint: `${right === undefined ? "" : `write ${right}: `}a-z, 0-9 and '-', 63 at most`,
    };
  }
  if (!isKubernetesSubdomain(name)) {
    const right = suggestName(name);
    return {
      problem: `${quote(name)} in ${quote(full)} cannot be the name of an object`,
      hint: `${right === undefined ? "" : `write ${right}: `}a-z, 0-9, '-' and '.', 253 at most`,
    };
  }
  return { namespace, name };
}

function checkPlace(
  { outerName }: PushItem,
  name: string,
  namespace: string,
  allowed: readonly string[],
): Problem[] {
  const problems: Problem[] = [];
  if (outerName !== undefined && outerName !== name) {
    problems.push({
      rule: "receive/name",
      message: `the resource is called ${quote(outerName)} outside, ${quote(name)} inside`,
      hint: "both names must be the same: by the outer one it would be removed",
    });
  }
  if (allowed.length > 0 && !matchesAny(allowed, namespace)) {
    problems.push({
      rule: "receive/namespace",
      message: `this source may not fill the namespace ${namespace}`,
      hint: `it may fill ${allowed.slice(0, 10).join(", ")}; the receiver's settings say so`,
    });
  }
  return problems;
}

function checkLabels({ labels }: McpMetadata): Problem[] {
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(labels)) {
    if (isQualifiedName(key) && isLabelValue(value)) continue;
    if (problems.length === FINDINGS_PER_RULE) break;
    const right = isQualifiedName(key) ? suggestLabelValue(value) : undefined;
    problems.push({
      rule: "receive/label",
      message: isQualifiedName(key)
        ? `${quote(value)} cannot be the value of the label ${quote(key)}`
        : `${quote(key)} cannot be the key of a label`,
      hint: `${right === undefined ? "" : `write ${right}: `}` +
        "letters, digits, '-', '_' and '.', 63 at most",
    });
  }
  return problems;
}

interface BodyVerdict {
  /** Absent where it cannot be read. */
  readonly value?: Uint8Array;
  readonly findings: readonly Finding[];
}

function checkBody(body: Any | undefined, metadata: Metadata, kind: Kind): BodyVerdict {
  const wrong = (message: string, hint?: string): BodyVerdict => ({
    findings: [findingOf("", { rule: "receive/body", message, ...(hint && { hint }) })],
  });
  if (body === undefined) return wrong("the resource has no body");
  if (!isMessageOf(kind, body.typeUrl)) {
    const right = `type.googleapis.com/${kind.message}`;
    return wrong(`the body is ${quote(body.typeUrl)}, no ${kind.kind}`, `its type URL is ${right}`);
  }
  try {
    return { value: body.value, findings: checkContent(body.value, metadata, kind) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return wrong(error.message);
  }
}

/** Whether a type URL names the kind's message, in any served version and with any host before it. */
function isMessageOf({ kind, message, versions }: Kind, typeUrl: string): boolean {
  const slash = typeUrl.lastIndexOf("/");
  if (slash < 0) return false;
  const name = typeUrl.slice(slash + 1);
  if (name === message) return true;
  const group = message.slice(0, message.lastIndexOf(".", message.length - kind.length - 2));
  return versions.some((version) => name === `${group}.${version}.${kind}`);
}

/** What rules find in the body; only Istio's own refuse what another source takes for good. */
function checkContent(value: Uint8Array, metadata: Metadata, kind: Kind): readonly Finding[] {
  switch (kind.kind) {
    case "ServiceEntry":
      return check(serviceEntryCodec, value, metadata, SERVICE_ENTRY_RULES);
    case "WorkloadEntry":
      return check(workloadEntryCodec, value, metadata, WORKLOAD_ENTRY_RULES);
    default:
      if (!isWellFormed(value)) throw new WireError("the body is no protobuf message");
      return run(kind.kind === "AuthorizationPolicy" ? POLICY_RULES : METADATA_RULES, {
        metadata,
        spec: undefined,
      });
  }
}

/** Policies may be tried out ("dry run"); nothing else may. */
const POLICY_RULES = METADATA_RULES.filter(({ id }) => id !== "istio/dry-run-annotation");

function check<T>(
  codec: MessageCodec<T>,
  value: Uint8Array,
  metadata: Metadata,
  rules: readonly Rule<T>[],
): readonly Finding[] {
  return run(rules, { metadata, spec: codec.decode(value) });
}

function run<T>(
  rules: readonly Rule<T>[],
  subject: { readonly metadata: Metadata; readonly spec: T },
): readonly Finding[] {
  const found = runRules(rules, subject, { limit: FINDINGS_PER_RULE });
  return withoutReplaced(rules, found).map((finding) =>
    finding.rule.startsWith("istio/") ? finding : { ...finding, severity: "warning" }
  );
}

function refused(subject: string, rule: string, message: string, hint?: string): ResourceVerdict {
  return { findings: [findingOf(subject, { rule, message, ...(hint && { hint }) })] };
}

function findingOf(subject: string, problem: Problem): Finding {
  return { severity: "error", subject, ...problem };
}

/** What a finding calls a resource: its name, cut where no name is that long. */
export function subjectOf(label: string): string {
  return label.length > SUBJECT_LENGTH ? `${label.slice(0, SUBJECT_LENGTH - 1)}…` : label;
}

function isError({ severity }: Finding): boolean {
  return severity === "error";
}
