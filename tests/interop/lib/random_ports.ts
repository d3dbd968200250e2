/**
 * Services at random that share a few ports: every protocol, resolution and way to be told apart, as a
 * person may write them.
 *
 * @module
 */
import type { ServiceConfig } from "./pinnace.ts";
import { below, type Random } from "./random_services.ts";

const PROTOCOLS = ["HTTP", "HTTP2", "GRPC", "TCP", "TLS", "HTTPS", "GRPC-WEB"] as const;
const NAMES = ["one", "two", "three", "four", "five"] as const;

/** Between one and five services on these ports. */
export function randomServices(random: Random, ports: readonly number[]): ServiceConfig[] {
  const names = NAMES.filter(() => below(random, 3) > 0);
  return (names.length === 0 ? [NAMES[0]] : names).map((name, i) =>
    randomService(name, i, random, ports)
  );
}

function randomService(
  name: string,
  index: number,
  random: Random,
  ports: readonly number[],
): ServiceConfig {
  const own = ports.filter(() => below(random, 2) === 0);
  const common = {
    name,
    hosts: [`${name}.example.com`],
    ports: (own.length === 0 ? [ports[0]!] : own).map((port) =>
      `${port}:${9000 + below(random, 2)}/${PROTOCOLS[below(random, PROTOCOLS.length)]}`
    ),
    // Addresses that differ: of two services with the same a person hears at validation already.
    ...(below(random, 3) === 0 ? { addresses: [`10.0.${index}.1`] } : {}),
  };
  switch (below(random, 5)) {
    case 0:
      return { ...common, resolution: "DNS", endpoints: ["localhost"] };
    case 1:
      return { ...common, resolution: "NONE", addresses: [`10.1.${index}.0/24`] };
    case 2:
      return { ...common, ...withSubsets(random) };
    default:
      return { ...common, resolution: "STATIC", endpoints: endpoints(random) };
  }
}

function endpoints(random: Random) {
  return Array.from({ length: below(random, 4) }, (_, i) => ({
    address: `127.0.1.${i + 1}`,
    weight: 1 + below(random, 3),
    ...(below(random, 3) === 0 ? {} : { locality: ["eu/fra", "us"][below(random, 2)]! }),
    ...(below(random, 4) === 0 ? { drain: true } : {}),
  }));
}

function withSubsets(random: Random) {
  const weight = below(random, 101);
  return {
    endpoints: ["v1", "v2"].map((version, i) => ({
      address: `127.0.2.${i + 1}`,
      labels: { version },
    })),
    split: { v1: weight, v2: 100 - weight },
  };
}
