/**
 * The names by which a service is called: the domains of its virtual host, and which service has them
 * where several would.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { formatHostPort } from "../../model/host_port.ts";
import type { Service } from "../../model/service.ts";
import type { ViewFinding } from "../recipe.ts";

/** A name of a service. */
export interface Domain {
  readonly text: string;
  /** Where services want one name: full hosts and addresses (0) before aliases (1) before derived names (2). */
  readonly rank: number;
}

/** A service's names on one port, and whose they are. */
export interface DomainClaim {
  /** `namespace/name` of the service. */
  readonly key: string;
  readonly domains: readonly Domain[];
}

/** Who has which name. */
export interface SettledDomains {
  /** What each claim got, in the order of claims. */
  readonly granted: readonly (readonly string[])[];
  /** One for each service that did not get all its names. */
  readonly findings: readonly ViewFinding[];
}

/** Each name of the service, without a port and with each of these. */
export function domainsOf(service: Service, ports: readonly number[]): Domain[] {
  const { name, namespace, hosts, addresses, aliases } = service;
  const texts = new Map<string, number>();
  const add = (names: readonly string[], rank: number) => {
    for (const text of names) if (!texts.has(text)) texts.set(text, rank);
  };
  add(hosts, 0);
  add(addresses.flatMap(oneAddress), 0);
  add(aliases, 1);
  add([name, `${name}.${namespace}`, `${name}.${namespace}.svc`], 2);
  return [...texts].flatMap(([text, rank]) => [
    { text: text.includes(":") ? `[${text}]` : text, rank },
    ...ports.map((port) => ({ text: formatHostPort(text, port), rank })),
  ]);
}

/** The address, unless it is a range of several. */
function oneAddress(address: string): string[] {
  const slash = address.indexOf("/");
  if (slash < 0) return [address];
  const bits = ipaddr.IPv6.isValid(address.slice(0, slash)) ? "128" : "32";
  return address.slice(slash + 1) === bits ? [address.slice(0, slash)] : [];
}

interface Owner {
  readonly claim: number;
  readonly rank: number;
}

/**
 * Gives each name, whatever its case, to one claim: by rank, then to the namespace of `defaults`,
 * then to the first key. `where` is for findings: "port 80".
 */
export function settleDomains(
  claims: readonly DomainClaim[],
  namespace: string,
  where: string,
): SettledDomains {
  const home = claims.map(({ key }) => key.startsWith(`${namespace}/`));
  const better = (a: Owner, b: Owner) => {
    if (a.rank !== b.rank) return a.rank < b.rank;
    if (home[a.claim] !== home[b.claim]) return home[a.claim]!;
    return claims[a.claim]!.key < claims[b.claim]!.key;
  };
  const owners = new Map<string, Owner>();
  claims.forEach(({ domains }, claim) => {
    for (const { text, rank } of domains) {
      const owner = owners.get(text.toLowerCase());
      const mine = { claim, rank };
      if (owner === undefined || better(mine, owner)) owners.set(text.toLowerCase(), mine);
    }
  });
  const findings: ViewFinding[] = [];
  const granted = claims.map(({ key, domains }, claim) => {
    const got = new Map<string, string>();
    const lost = new Map<string, string>();
    for (const { text } of domains) {
      const folded = text.toLowerCase();
      const owner = owners.get(folded)!.claim;
      if (owner === claim) got.set(folded, got.get(folded) ?? text);
      else if (claims[owner]!.key !== key) lost.set(text, claims[owner]!.key);
    }
    if (lost.size > 0) findings.push(domainsLost(key, lost, where));
    return [...got.values()];
  });
  return { granted, findings };
}

function domainsLost(
  key: string,
  lost: ReadonlyMap<string, string>,
  where: string,
): ViewFinding {
  const byOwner = new Map<string, string[]>();
  for (const [text, owner] of lost) byOwner.set(owner, [...byOwner.get(owner) ?? [], text]);
  const parts = Array.from(byOwner, ([owner, texts]) => `${texts.join(", ")} to ${owner}`);
  return {
    key,
    rule: "view/domain-taken",
    message: `on ${where} requests go for ${parts.join(", for ")}; ` +
      "call this service by its full host",
  };
}
