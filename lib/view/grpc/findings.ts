/**
 * What a person should know of a service that gRPC clients do not get whole.
 *
 * @module
 */
import type { ViewFinding } from "../recipe.ts";
import type { ServedService } from "../served_service.ts";
import { protocolClass } from "../shared/names.ts";
import { unservedFindings } from "../shared/served_parts.ts";
import { missingTargets } from "../shared/targets.ts";

/** Gathers what there is to say of one service; each thing is said once. */
export class Findings {
  readonly #served: ServedService;
  readonly #unable = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #repeated = new Set<string>();
  #unix = false;
  #drainIgnored = false;

  constructor(served: ServedService) {
    this.#served = served;
  }

  /** Conditions of routes that clients cannot check. */
  unable(conditions: readonly string[]): void {
    for (const condition of conditions) this.#unable.add(condition);
  }

  /** Subsets, ports and hosts that traffic should go to and that are not there. */
  missing(targets: readonly string[]): void {
    for (const target of targets) this.#missing.add(target);
  }

  /** Addresses, `host:port`, that were given more than once. */
  repeated(addresses: readonly string[]): void {
    for (const address of addresses) this.#repeated.add(address);
  }

  /** An endpoint is a Unix domain socket. */
  unix(): void {
    this.#unix = true;
  }

  /** Endpoints that drain are used all the same. */
  drainIgnored(): void {
    this.#drainIgnored = true;
  }

  /** One finding for each kind of thing. */
  all(): ViewFinding[] {
    const { key } = this.#served;
    const own = [...this.#ofService(), ...this.#ofTraffic(), ...this.#ofEndpoints()];
    return [
      ...unservedFindings(this.#served),
      ...missingTargets(key, this.#missing),
      ...own.map(([rule, message]) => ({ key, rule, message })),
    ];
  }

  *#ofService(): Iterable<readonly [rule: string, message: string]> {
    const { hosts, ports, subjectAltNames } = this.#served.service;
    const wild = hosts.filter((host) => host.includes("*"));
    if (wild.length > 0) {
      yield [
        "view/grpc-wildcard-host",
        `gRPC programs cannot call ${
          wild.join(", ")
        }: they ask for the very name that they dial; ` +
        "name each host, or give aliases",
      ];
    }
    const udp = ports.filter((port) => protocolClass(port) === "udp");
    if (udp.length > 0) {
      const names = udp.map(({ number }) => number).join(", ");
      yield ["view/udp", `UDP is not served to clients of xDS: port ${names} is left out`];
    }
    if (subjectAltNames.length > 0) {
      yield [
        "view/grpc-subject-alt-names",
        "gRPC programs are not told of subjectAltNames: whether they speak TLS and whom they trust " +
        "is said by the credentials of their channels",
      ];
    }
  }

  *#ofTraffic(): Iterable<readonly [rule: string, message: string]> {
    if (this.#unable.size === 0) return;
    yield [
      "view/grpc-match",
      `gRPC programs cannot tell calls apart by ${[...this.#unable].join("; by ")}; ` +
      "what is matched by it is left out of their routes",
    ];
  }

  *#ofEndpoints(): Iterable<readonly [rule: string, message: string]> {
    if (this.#unix) {
      yield [
        "view/grpc-unix-endpoint",
        "gRPC programs take IP addresses only: endpoints with unix:// are left out",
      ];
    }
    if (this.#repeated.size > 0) {
      yield [
        "view/repeated-endpoint",
        `given more than once: ${[...this.#repeated].join(", ")}; of each the first counts`,
      ];
    }
    if (this.#drainIgnored) {
      yield [
        "view/drain-ignored",
        "so many endpoints drain that none, or fewer than minHealthy, would be left: all are used",
      ];
    }
  }
}
