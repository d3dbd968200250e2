/**
 * What a person should know of a service that Dubbo applications do not get whole.
 *
 * @module
 */
import { formatHostPort } from "../../model/host_port.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import type { ViewFinding } from "../recipe.ts";
import { protocolClass } from "../shared/names.ts";
import type { EndpointGroup, Placement } from "../shared/place_endpoints.ts";
import { isMetadataPort } from "./metadata.ts";

/** Gathers what there is to say of one service; each thing is said once. */
export class Findings {
  readonly #key: string;
  readonly #said = new Map<string, Set<string>>();
  readonly #repeated = new Set<string>();

  constructor(key: string) {
    this.#key = key;
  }

  /** Says something. */
  add(rule: string, message: string): void {
    const messages = this.#said.get(rule);
    if (messages === undefined) this.#said.set(rule, new Set([message]));
    else messages.add(message);
  }

  /** Says what there is to say of the service, of which this port is provided. */
  ofService({ ports, hosts, subjectAltNames }: Service, provided: ServicePort | undefined): void {
    if (provided === undefined && ports.length > 0) {
      this.add(
        "view/dubbo-port",
        "it has no port that an application could call: TLS and UDP are left out; give its port " +
          "the protocol GRPC (for tri) or TCP (for dubbo)",
      );
    }
    if (provided !== undefined) this.#ofOthers(ports, provided);
    if (hosts.length === 0) {
      this.add(
        "view/dubbo-wildcard-host",
        "a host with a wildcard cannot be looked up; give endpoints",
      );
    }
    if (subjectAltNames.length > 0) {
      this.add(
        "view/dubbo-subject-alt-names",
        "applications are not told of subjectAltNames: whether they speak TLS and whom they trust " +
          "is said by their own configuration",
      );
    }
  }

  #ofOthers(ports: readonly ServicePort[], provided: ServicePort): void {
    const rivals = ports.filter((port) =>
      port !== provided && protocolClass(port) === protocolClass(provided) &&
      isMadeForRpc(port) === isMadeForRpc(provided) && !isMetadataPort(port)
    );
    if (rivals.length === 0) return;
    this.add(
      "view/dubbo-ports",
      `port ${provided.number} alone is called, not ${
        rivals.map(({ number }) => number).join(", ")
      }: an application takes each port for an instance of its own; let the port of its ` +
        "protocol come first",
    );
  }

  /** An endpoint is a Unix domain socket. */
  unix(): void {
    this.add(
      "view/dubbo-unix-endpoint",
      "applications take IP addresses only: endpoints with unix:// are left out",
    );
  }

  /** Says what there is to say of how endpoints were placed. */
  ofPlacement({ repeated, drainIgnored }: Placement): void {
    for (const address of repeated) this.#repeated.add(address);
    if (!drainIgnored) return;
    this.add(
      "view/drain-ignored",
      "so many endpoints drain that none, or fewer than minHealthy, would be left: all are used",
    );
  }

  /** Says what there is to say of the endpoints that are called. */
  ofEndpoints(groups: readonly EndpointGroup[]): void {
    if (new Set(groups.map(({ priority }) => priority)).size > 1) {
      this.add(
        "view/dubbo-failover",
        "failover is not followed: endpoints of all localities get calls at all times; make a " +
          "service of each locality where that must not be",
      );
    }
    const endpoints = groups.flatMap((group) => group.endpoints);
    if (new Set(endpoints.map(({ weight }) => weight)).size > 1) {
      this.add(
        "view/dubbo-weight",
        "weights of endpoints are not followed: each endpoint gets as many calls as any other, " +
          "unless the provider itself says its weight",
      );
    }
    const loopback = endpoints.flatMap(({ place }) =>
      place.kind === "socket" && place.address.startsWith("127.")
        ? [formatHostPort(place.address, place.port)]
        : []
    );
    if (loopback.length > 0) {
      this.add(
        "view/dubbo-loopback",
        `for an address that begins with 127. an application dials its own machine's first other ` +
          `address (${loopback.join(", ")}); give the endpoint an address that is no loopback`,
      );
    }
  }

  /** Everything, rule by rule. */
  all(): ViewFinding[] {
    if (this.#repeated.size > 0) {
      this.add(
        "view/repeated-endpoint",
        `given more than once: ${[...this.#repeated].join(", ")}; of each the first counts`,
      );
    }
    return [...this.#said].flatMap(([rule, messages]) =>
      Array.from(messages, (message) => ({ key: this.#key, rule, message }))
    );
  }
}

/** Whether the port's protocol is one that Dubbo's tri speaks. */
export function isMadeForRpc({ protocol }: ServicePort): boolean {
  return protocol === "GRPC" || protocol === "HTTP2";
}
