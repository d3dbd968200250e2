/**
 * Labels and annotations that no sink would take. They are left out, and the person is told: one bad
 * label should not keep a service from its clients.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Endpoint, Service } from "../model/service.ts";
import type { StringMap } from "../wire/messages.ts";
import {
  isIstioTagKey,
  isIstioTagValue,
  isLabelValue,
  isQualifiedName,
  quote,
  suggestLabelValue,
} from "./rules/names.ts";
import {
  andMore,
  FINDINGS_PER_RULE,
  type Path,
  type Problem,
  type RuleInfo,
  toFinding,
} from "./rules/rule.ts";

/** A label of a service or of an endpoint that is left out. */
export const LABEL_RULE: RuleInfo = { id: "pinnace/label", severity: "warning" };

/** An annotation of a service that is left out. */
export const ANNOTATION_RULE: RuleInfo = { id: "pinnace/annotation", severity: "warning" };

/** The service without what no sink would take (itself, if there was none), and what was left out. */
export function dropLabels(service: Service): { service: Service; findings: readonly Finding[] } {
  const dropped = new Dropped(`${service.namespace}/${service.name}`);
  const labels = dropped.labels(service.labels, ["labels"], KUBERNETES);
  const annotations = dropped.annotations(service.annotations);
  const endpoints = service.endpoints.map((endpoint, index): Endpoint => {
    const kept = dropped.labels(endpoint.labels, ["endpoints", index, "labels"], ISTIO);
    return kept === endpoint.labels ? endpoint : { ...endpoint, labels: kept };
  });
  if (dropped.count === 0) return { service, findings: [] };
  return { service: { ...service, labels, annotations, endpoints }, findings: dropped.findings };
}

/** Who judges keys and values. */
interface Judge {
  readonly isKey: (key: string) => boolean;
  readonly isValue: (value: string) => boolean;
}

/** Labels of an object, as the Kubernetes API takes them. */
const KUBERNETES: Judge = { isKey: isQualifiedName, isValue: isLabelValue };

/** Labels of an endpoint, as Istio's validation takes them. */
const ISTIO: Judge = { isKey: isIstioTagKey, isValue: isIstioTagValue };

/** Collects what was left out. */
class Dropped {
  count = 0;
  readonly #subject: string;
  readonly #findings: Finding[] = [];

  constructor(subject: string) {
    this.#subject = subject;
  }

  get findings(): readonly Finding[] {
    const more = this.count - FINDINGS_PER_RULE;
    return more > 0
      ? [...this.#findings, andMore(LABEL_RULE, this.#subject, more)]
      : this.#findings;
  }

  labels(labels: StringMap, path: Path, { isKey, isValue }: Judge): StringMap {
    return this.#filter(labels, (key) => {
      const value = labels[key]!;
      if (isKey(key) && isValue(value)) return true;
      this.#add(LABEL_RULE, labelProblem(key, value, isKey(key), [...path, key]));
      return false;
    });
  }

  annotations(annotations: StringMap): StringMap {
    return this.#filter(annotations, (key) => {
      if (isQualifiedName(key.toLowerCase())) return true;
      const path = ["annotations", key];
      const message = `${quote(key)} cannot be the key of an annotation; it is left out`;
      this.#add(ANNOTATION_RULE, { path, message, hint: KEY_HINT });
      return false;
    });
  }

  #filter(map: StringMap, keep: (key: string) => boolean): StringMap {
    let bad: Set<string> | undefined;
    for (const key in map) if (!keep(key)) (bad ??= new Set()).add(key);
    return bad === undefined
      ? map
      : Object.fromEntries(Object.entries(map).filter(([key]) => !bad.has(key)));
  }

  #add(rule: RuleInfo, problem: Problem): void {
    if (++this.count <= FINDINGS_PER_RULE) {
      this.#findings.push(toFinding(rule, this.#subject, [], problem));
    }
  }
}

const KEY_HINT = "write name or example.com/name; letters, digits, '-', '_' and '.', 63 at most";

function labelProblem(key: string, value: string, goodKey: boolean, path: Path): Problem {
  if (!goodKey) {
    const message = `${quote(key)} cannot be the key of a label; the label is left out`;
    return { path, message, hint: KEY_HINT };
  }
  const suggestion = suggestLabelValue(value);
  return {
    path,
    message: `${quote(value)} cannot be the value of a label; the label is left out`,
    hint: suggestion === undefined ? VALUE_HINT : `write ${suggestion} (${VALUE_HINT})`,
  };
}

const VALUE_HINT = "letters, digits, '-', '_' and '.', 63 at most";
