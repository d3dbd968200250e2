/**
 * Rules for what an object has besides its body: its name, namespace and annotations.
 *
 * @module
 */
import {
  isKubernetesLabel,
  isKubernetesSubdomain,
  quote,
  suggestLabel,
  suggestName,
} from "./names.ts";
import type { Rule } from "./rule.ts";

const DRY_RUN = "istio.io/dry-run";

/** Annotations by which Istio marks objects of its own making; it takes them from nobody else. */
const INTERNAL = [
  "internal.istio.io/webhook-always-reject",
  "internal.istio.io/parent-namespace",
  "internal.istio.io/parents",
];

const dryRun: Rule<unknown> = {
  id: "istio/dry-run-annotation",
  severity: "error",
  of: "metadata",
  check: ({ metadata: { annotations } }, report) => {
    if (!Object.hasOwn(annotations, DRY_RUN)) return;
    report({
      path: ["annotations", DRY_RUN],
      message: `the annotation ${DRY_RUN} is not for this kind of object`,
      hint: "only an AuthorizationPolicy takes it; remove it",
    });
  },
};

const internalAnnotation: Rule<unknown> = {
  id: "istio/internal-annotation",
  severity: "error",
  of: "metadata",
  check: ({ metadata: { annotations } }, report) => {
    for (const key of INTERNAL) {
      if (!Object.hasOwn(annotations, key)) continue;
      report({
        path: ["annotations", key],
        message: `the annotation ${key} is Istio's own`,
        hint: "remove it",
      });
    }
  },
};

const name: Rule<unknown> = {
  id: "pinnace/name",
  severity: "error",
  of: "metadata",
  check: ({ metadata }, report) => {
    if (isKubernetesSubdomain(metadata.name)) return;
    report({
      path: ["name"],
      message: `${quote(metadata.name)} cannot be the name of an object`,
      hint: nameHint("a-z, 0-9, '-' and '.', 253 characters at most", suggestName(metadata.name)),
    });
  },
};

const namespace: Rule<unknown> = {
  id: "pinnace/namespace",
  severity: "error",
  of: "metadata",
  check: ({ metadata }, report) => {
    if (isKubernetesLabel(metadata.namespace)) return;
    report({
      path: ["namespace"],
      message: `${quote(metadata.namespace)} cannot be a namespace`,
      hint: nameHint("a-z, 0-9 and '-', 63 characters at most", suggestLabel(metadata.namespace)),
    });
  },
};

/** Rules for the metadata of every kind of object. */
export const METADATA_RULES: readonly Rule<unknown>[] = [
  name,
  namespace,
  dryRun,
  internalAnnotation,
];

function nameHint(allowed: string, suggestion: string | undefined): string {
  const rule = `allowed are ${allowed}, beginning and ending with a letter or digit`;
  return suggestion === undefined ? rule : `write ${suggestion} (${rule})`;
}
