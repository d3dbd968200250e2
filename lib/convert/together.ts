/**
 * What is wrong with services only together: plain TCP ports that a sidecar cannot tell apart, aliases
 * that are names of others, wildcards under which others are.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Service, ServicePort } from "../model/service.ts";
import { checkAliases } from "./aliases.ts";
import { type AddressRange, toRange } from "./rules/addresses.ts";
import { isTcp, isTls, parseProtocol } from "./rules/protocols.ts";
import { type RuleInfo, toFinding } from "./rules/rule.ts";
import { checkWildcards } from "./wildcards.ts";

/** A finding about one of the services that were looked at together. */
export interface ServiceFinding {
  /** Index into the list given. */
  readonly service: number;
  /** Its path is relative to that service. */
  readonly finding: Finding;
}

/** Two services take the same plain TCP port of the same, or of no, address. */
export const TCP_PORT_RULE: RuleInfo = { id: "pinnace/tcp-port-taken", severity: "warning" };

/** Findings for one port number; what is beyond is counted in the last. */
export const FINDINGS_PER_PORT = 10;

/**
 * Warnings that concern several services, of ports, aliases and wildcards. A sidecar listens for a plain TCP port on the service's
 * addresses, or on 0.0.0.0 where it has none; of two services that come to the same, one gets nothing.
 * Only services that some namespace sees both of are held against each other. Time grows with n log n.
 */
export function checkTogether(services: readonly Service[]): ServiceFinding[] {
  return [...checkPorts(services), ...checkAliases(services), ...checkWildcards(services)];
}

function checkPorts(services: readonly Service[]): ServiceFinding[] {
  const byPort = new Map<number, Claim[]>();
  services.forEach((service, index) => {
    service.ports.forEach((port, portIndex) => {
      if (!isPlainTcp(port)) return;
      const claim = { service, index, portIndex };
      const claims = byPort.get(port.number);
      if (claims === undefined) byPort.set(port.number, [claim]);
      else claims.push(claim);
    });
  });
  return [...byPort.values()].flatMap((claims) => claims.length < 2 ? [] : checkPort(claims));
}

interface Claim {
  readonly service: Service;
  readonly index: number;
  readonly portIndex: number;
}

/** A claim that is too late, the one before it, and what both want. */
interface Clash {
  readonly claim: Claim;
  readonly earlier: Claim;
  readonly address: string;
}

function checkPort(claims: readonly Claim[]): ServiceFinding[] {
  const clashes = [
    ...clashesOfWildcards(claims.filter(({ service }) => service.addresses.length === 0)),
    ...clashesOfRanges(claims.filter(({ service }) => service.addresses.length > 0)),
  ];
  const findings = clashes.slice(0, FINDINGS_PER_PORT).map(describe);
  const more = clashes.length - findings.length;
  if (more <= 0) return findings;
  const last = findings.pop()!;
  const message = `${last.finding.message} (and ${more} more clashes on this port)`;
  return [...findings, { ...last, finding: { ...last.finding, message } }];
}

function describe({ claim, earlier, address }: Clash): ServiceFinding {
  const { service, index, portIndex } = claim;
  const other = `${earlier.service.namespace}/${earlier.service.name}`;
  const port = service.ports[portIndex]!.number;
  const finding = toFinding(TCP_PORT_RULE, `${service.namespace}/${service.name}`, [], {
    path: ["ports", portIndex],
    message: address === ""
      ? `TCP port ${port} without an address is taken by ${other} already`
      : `TCP port ${port} of ${address} is taken by ${other} already`,
    hint: "a sidecar sends all of it to one of the two; give each addresses or a port of its own",
  });
  return { service: index, finding };
}

/** Each claim of 0.0.0.0 clashes with the first one that someone sees together with it. */
function clashesOfWildcards(claims: readonly Claim[]): Clash[] {
  const seen = new Audience();
  return claims.flatMap((claim) => {
    const earlier = seen.meet(claim);
    return earlier === undefined ? [] : [{ claim, earlier, address: "" }];
  });
}

interface RangeClaim {
  readonly range: AddressRange;
  readonly address: string;
  readonly claim: Claim;
}

/** Of two prefixes one holds the other or they have nothing in common: what holds a range is a short stack. */
function clashesOfRanges(claims: readonly Claim[]): Clash[] {
  const ranges = claims.flatMap(rangesOf);
  ranges.sort(({ range: a, claim: { index: i } }, { range: b, claim: { index: j } }) =>
    compare(a.first, b.first) || compare(b.last, a.last) || i - j
  );
  const clashes = new Map<number, Clash>();
  const around: { range: AddressRange; seen: Audience }[] = [];
  for (const { range, address, claim } of ranges) {
    while (around.length > 0 && around.at(-1)!.range.last < range.first) around.pop();
    const { first, last } = around.at(-1)?.range ?? {};
    if (first !== range.first || last !== range.last) around.push({ range, seen: new Audience() });
    const holders = around.map(({ seen }, depth) =>
      depth === around.length - 1 ? seen.meet(claim) : seen.find(claim)
    );
    const earlier = holders.find((holder) => holder !== undefined);
    if (earlier !== undefined && !clashes.has(claim.index)) {
      clashes.set(claim.index, { claim, earlier, address });
    }
  }
  return [...clashes.values()];
}

function rangesOf(claim: Claim): RangeClaim[] {
  return claim.service.addresses.flatMap((address) => {
    const range = toRange(address);
    return range === undefined ? [] : [{ range, address, claim }];
  });
}

/** Who was seen by which namespace. */
class Audience {
  /** The first service that every namespace sees. */
  #everywhere: Claim | undefined;
  /** The first service that anyone sees at all. */
  #anywhere: Claim | undefined;
  readonly #byNamespace = new Map<string, Claim>();

  /** Another service, remembered before, that some namespace sees together with this one. */
  find({ index, service }: Claim): Claim | undefined {
    const audience = audienceOf(service);
    const candidates = audience === "*"
      ? [this.#everywhere, this.#anywhere]
      : audience.map((namespace) => this.#everywhere ?? this.#byNamespace.get(namespace));
    return candidates.find((claim) => claim !== undefined && claim.index !== index);
  }

  /** As {@link find}; then this one is remembered. */
  meet(claim: Claim): Claim | undefined {
    const met = this.find(claim);
    const audience = audienceOf(claim.service);
    if (audience === "*") this.#everywhere ??= claim;
    if (audience.length > 0) this.#anywhere ??= claim;
    if (audience !== "*") {
      for (const namespace of audience) {
        if (!this.#byNamespace.has(namespace)) this.#byNamespace.set(namespace, claim);
      }
    }
    return met;
  }
}

/** Namespaces that see a service; `*` is all of them, as is nothing at all. */
function audienceOf({ namespace, exportTo }: Service): "*" | readonly string[] {
  if (exportTo.length === 0 || exportTo.includes("*")) return "*";
  return exportTo.filter((entry) => entry !== "~").map((entry) =>
    entry === "." ? namespace : entry
  );
}

/** Protocols in which nothing before the first bytes of the payload tells one service from another. */
function isPlainTcp({ protocol }: ServicePort): boolean {
  if (protocol === "TCP" || protocol === "") return true;
  return parseProtocol(protocol) !== undefined && isTcp(protocol) && !isTls(protocol);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
