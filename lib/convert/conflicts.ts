/**
 * What two services cannot both have: a name, a host in one namespace, an alias. Who loads the files
 * knows the places and says which services are involved; nothing is merged silently.
 *
 * @module
 */
import { ownNames } from "../model/own_names.ts";
import type { Service } from "../model/service.ts";
import type { RuleInfo } from "./rules/rule.ts";

/** What is a conflict. */
export const CONFLICT_RULES = [
  { id: "pinnace/same-name", severity: "error" },
  { id: "pinnace/same-host", severity: "error" },
  { id: "pinnace/same-alias", severity: "error" },
] as const satisfies readonly RuleInfo[];

/** Something that several services claim. */
export interface Conflict {
  readonly rule: (typeof CONFLICT_RULES)[number]["id"];
  /** What they claim: `namespace/name`, a host, or an alias. */
  readonly what: string;
  /** The services, as indexes into the list given, ascending; two or more. */
  readonly services: readonly number[];
  /** What is wrong, for a finding of any of them. */
  readonly message: string;
}

/** The part of a service that can conflict with another's. */
export type Claims = Pick<
  Service,
  "name" | "namespace" | "hosts" | "aliases" | "subsets" | "failover"
>;

/**
 * Every conflict, in the order in which they were met. Hosts and aliases are compared without regard to
 * capitals. An alias also conflicts with another service's host, since clients ask for either in the same way.
 */
export function conflicts(services: readonly Claims[]): Conflict[] {
  const names = new Claimed();
  const hosts = new Claimed();
  const aliases = new Claimed();
  const rules = new Claimed();
  services.forEach((service, index) => {
    const { name, namespace, hosts: ownHosts, aliases: ownAliases } = service;
    names.claim(`${namespace}/${name}`, index);
    if (service.subsets !== undefined || service.failover !== undefined) {
      for (const rule of ownNames(service).DestinationRule) {
        rules.claim(`${namespace}/${rule}`, index);
      }
    }
    for (const host of ownHosts) hosts.claim(`${namespace} ${host.toLowerCase()}`, index);
    for (const alias of ownAliases) aliases.claim(alias.toLowerCase(), index);
  });
  if (aliases.size > 0) {
    services.forEach(({ hosts }, index) => {
      for (const host of hosts) aliases.join(host.toLowerCase(), index);
    });
  }
  return [
    ...names.shared().map(([what, indexes]): Conflict => ({
      rule: "pinnace/same-name",
      what,
      services: indexes,
      message: `${indexes.length} services are named ${what}`,
    })),
    ...rules.shared().map(([what, indexes]): Conflict => ({
      rule: "pinnace/same-name",
      what,
      services: indexes,
      message: `${indexes.length} services come to a DestinationRule named ${what}`,
    })),
    ...hosts.shared().map(([key, indexes]): Conflict => {
      const [namespace, host] = key.split(" ");
      return {
        rule: "pinnace/same-host",
        what: host!,
        services: indexes,
        message: `${indexes.length} services of namespace ${namespace} have the host ${host}`,
      };
    }),
    ...aliases.shared().map(([what, indexes]): Conflict => ({
      rule: "pinnace/same-alias",
      what,
      services: indexes,
      message: `${indexes.length} services answer to the name ${what}`,
    })),
  ];
}

/** Who claims what. Made for very many claims of which nearly all are of one service alone. */
class Claimed {
  readonly #first = new Map<string, number>();
  readonly #shared = new Map<string, Set<number>>();

  get size(): number {
    return this.#first.size;
  }

  claim(key: string, index: number): void {
    const first = this.#first.get(key);
    if (first === undefined) this.#first.set(key, index);
    else this.#share(key, first, index);
  }

  /** A further claim of what is claimed already; nothing if it is not. */
  join(key: string, index: number): void {
    const first = this.#first.get(key);
    if (first !== undefined) this.#share(key, first, index);
  }

  shared(): [key: string, indexes: readonly number[]][] {
    return [...this.#shared].map(([key, indexes]) => [
      key,
      [...indexes].sort((a, b) => a - b),
    ]);
  }

  #share(key: string, first: number, index: number): void {
    if (first === index) return;
    const indexes = this.#shared.get(key);
    if (indexes === undefined) this.#shared.set(key, new Set([first, index]));
    else indexes.add(index);
  }
}
