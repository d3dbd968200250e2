/**
 * Aliases that are also names of other services, as clients that are served by xDS may ask for them.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Service } from "../model/service.ts";
import { enumerate } from "./rules/names.ts";
import { type RuleInfo, toFinding } from "./rules/rule.ts";

/** An alias that another service goes by as well. */
export const ALIAS_RULE: RuleInfo = { id: "pinnace/alias-taken", severity: "warning" };

/** Aliases that are names which follow from another service's own: NAME, NAME.NAMESPACE, NAME.NAMESPACE.svc, addresses. */
export function checkAliases(
  services: readonly Service[],
): { readonly service: number; readonly finding: Finding }[] {
  const claims = new Map<string, { readonly index: number; readonly place: number }>();
  services.forEach(({ aliases }, index) =>
    aliases.forEach((alias, place) => claims.set(alias.toLowerCase(), { index, place }))
  );
  if (claims.size === 0) return [];
  const taken = new Map<string, string[]>();
  services.forEach((service, index) => {
    for (const name of new Set(derivedNames(service))) {
      const claim = claims.get(name);
      if (claim === undefined || claim.index === index) continue;
      const owners = taken.get(name) ?? [];
      owners.push(`${service.namespace}/${service.name}`);
      taken.set(name, owners);
    }
  });
  return [...taken].map(([name, owners]) => {
    const { index, place } = claims.get(name)!;
    const { namespace, name: own, aliases } = services[index]!;
    return {
      service: index,
      finding: toFinding(ALIAS_RULE, `${namespace}/${own}`, [], {
        path: ["aliases", place],
        message: `the alias ${aliases[place]} is also short for ${enumerate(owners)}, ` +
          "which clients cannot reach by it any more",
        hint: "choose an alias that no other service goes by",
      }),
    };
  });
}

/** In small letters. Hosts are left to the conflicts of aliases. */
function derivedNames({ name, namespace, addresses }: Service): readonly string[] {
  return [
    name,
    `${name}.${namespace}`,
    `${name}.${namespace}.svc`,
    ...addresses.map((address) => address.toLowerCase()),
  ];
}
