/**
 * Every rule of conversion, for whoever explains findings: docs/rules.md has a section on each.
 *
 * @module
 */
import { CONFLICT_RULES } from "./conflicts.ts";
import { ENCODING_RULE } from "./convert.ts";
import { ANNOTATION_RULE, LABEL_RULE } from "./labels.ts";
import type { RuleInfo } from "./rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "./rules/service_entry_rules.ts";
import { WORKLOAD_ENTRY_RULES } from "./rules/workload_entry_rules.ts";
import { ALIAS_RULE } from "./aliases.ts";
import { DRAIN_RULE } from "./drain.ts";
import { TRAFFIC_RULES } from "./rules/traffic_rules.ts";
import { TCP_PORT_RULE } from "./together.ts";
import { WILDCARD_RULE } from "./wildcards.ts";

/** Every rule once, sorted by name. */
export const RULES: readonly RuleInfo[] = [
  ...new Map<string, RuleInfo>(
    [
      ...SERVICE_ENTRY_RULES,
      ...WORKLOAD_ENTRY_RULES,
      ...CONFLICT_RULES,
      ENCODING_RULE,
      LABEL_RULE,
      ANNOTATION_RULE,
      TCP_PORT_RULE,
      ALIAS_RULE,
      DRAIN_RULE,
      WILDCARD_RULE,
      ...TRAFFIC_RULES,
    ].map(({ id, severity }) => [id, { id, severity }]),
  ).values(),
].sort((a, b) => (a.id < b.id ? -1 : 1));
