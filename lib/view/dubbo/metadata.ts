/**
 * Whether providers can be asked for their metadata, as far as the configuration tells.
 *
 * Before it calls an endpoint, an application asks it what it provides: by the protocol `dubbo`, at the
 * endpoint's address and the one port that the *consumer* is told (`metadataServicePort`), else at the
 * endpoint's own port. An endpoint that does not answer there is left out, whatever it provides; what it
 * answers is kept by its address and port.
 *
 * @module
 */
import { formatHostPort } from "../../model/host_port.ts";
import type { Endpoint, Service, ServicePort } from "../../model/service.ts";
import type { EndpointGroup } from "../shared/place_endpoints.ts";

/** The number that Dubbo's own examples give the port. */
const USUAL_PORT = 20885;

/** Whether a port of a service is said to be that of the metadata service. */
export function isMetadataPort({ name, number }: ServicePort): boolean {
  return name === "metadata" || name === "dubbo-metadata" || number === USUAL_PORT;
}

/** What keeps providers from being asked: rule and message. `groups`: the endpoints that are called. */
export function* metadataFindings(
  service: Service,
  groups: readonly EndpointGroup[],
): Iterable<readonly [rule: string, message: string]> {
  const shared = sharedAddresses(groups);
  if (shared.length > 0) {
    yield [
      "view/dubbo-metadata",
      `more than one provider at one address (${
        shared.join(", ")
      }): applications ask each for its ` +
      "metadata at one and the same port of that address, so only the provider that has the port " +
      "is called; give each provider an address of its own",
    ];
  }
  const port = service.ports.find(isMetadataPort);
  if (port === undefined) return;
  const numbers = new Map(
    service.endpoints.filter(({ drain }) => drain !== true)
      .map((endpoint) => [endpoint.address, portOf(endpoint, port)]),
  );
  if (new Set(numbers.values()).size <= 1) return;
  const list = Array.from(
    numbers,
    ([address, number]) => `${address}: ${number ?? "none"}`,
  );
  yield [
    "view/dubbo-metadata",
    `the metadata service is not at the same port everywhere (${list.join(", ")}): applications ` +
    "have one number for all, their `metadataServicePort`, and leave out whoever does not answer " +
    "there; give every provider the same",
  ];
}

/** Addresses with more than one endpoint, each with its ports. */
function sharedAddresses(groups: readonly EndpointGroup[]): string[] {
  const ports = new Map<string, number[]>();
  for (const { place } of groups.flatMap(({ endpoints }) => endpoints)) {
    if (place.kind !== "socket") continue;
    ports.set(place.address, [...ports.get(place.address) ?? [], place.port]);
  }
  return [...ports].filter(([, numbers]) => numbers.length > 1)
    .map(([address, numbers]) =>
      numbers.map((number) => formatHostPort(address, number)).join(" and ")
    );
}

/** Undefined: the endpoint names its ports, and this is none of them. */
function portOf({ ports }: Endpoint, port: ServicePort): number | undefined {
  if (Object.hasOwn(ports, port.name)) return ports[port.name];
  return Object.keys(ports).length > 0 ? undefined : port.targetPort ?? port.number;
}
