/**
 * Services made by chance as a person may write them, with everything that directs their traffic.
 *
 * @module
 */
import { assert } from "@std/assert";
import { check } from "../../../lib/config/check.ts";
import { normaliseService } from "../../../lib/config/normalise.ts";
import { serviceSchema } from "../../../lib/config/schema_service.ts";
import { convertService } from "../../../lib/convert/convert.ts";
import { renderResource } from "../../../lib/convert/render.ts";
import type { OwnKind } from "../../../lib/model/own_names.ts";
import { mcpResourceCodec } from "../../../lib/wire/messages.ts";
import { Chance } from "./chance.ts";

/** An object that a service became, as both forms say it. */
export interface Made {
  readonly title: string;
  readonly kind: OwnKind;
  readonly question: unknown;
}

const DEFAULTS = { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] };

const HOSTS = [
  ["orders.example.com"],
  ["*.example.com"],
  ["a.example.com", "*.example.com"],
  ["*.a.example.com", "*.example.com", "example.org"],
  ["Orders.Example.com"],
  ["orders"],
  ["a.example.com", "b.example.com", "c.example.com"],
];
const PORTS = ["80/HTTP", "81/HTTP2", "82/GRPC", "83/GRPC-WEB", "443/HTTPS", "444:8444/TLS"];
const STREAM_PORTS = [5432, "6379/REDIS", "27017/MONGO", "53/UDP"];
const EXPORTS = [["*"], ["."], ["~"], ["shop", "."], ["default"]];
const VERSIONS = ["v1", "v2", "v3", "1.10", "a b", "canary"];
const LOCALITIES = ["eu/fra/a", "eu/fra/b", "eu/ams", "eu", "us/nyc", undefined];
const FAILOVERS = [["eu/fra", "eu"], ["us/nyc", "eu/fra/a", "eu"], ["ap"], ["eu"]];

/** The objects of `count` services; of those that are refused, none. */
export function* objectsByChance(seed: number, count: number): Iterable<Made> {
  for (let number = 0; number < count; number++) {
    const chance = new Chance((seed + Math.imul(number, 0x9e3779b1)) >>> 0);
    const written = serviceByChance(chance);
    const checked = check(serviceSchema, written);
    assert(checked.ok, JSON.stringify([written, checked]));
    const { service, problems } = normaliseService(checked.value, DEFAULTS);
    if (problems.some(({ severity }) => severity === "error")) continue;
    for (const { kind, resource } of convertService(service).resources) {
      const { metadata, body } = mcpResourceCodec.decode(resource.bytes);
      const [namespace, name] = resource.name.split("/");
      const { labels, annotations } = metadata!;
      const spec = body!.value.toBase64();
      const rendered = renderResource(resource).spec;
      yield {
        title: `number ${number} of seed ${seed}: ${JSON.stringify(written)}`,
        kind,
        question: { kind, name, namespace, labels, annotations, spec, written: rendered },
      };
    }
  }
}

/** Most of it is right, so that most services become something. */
function serviceByChance(chance: Chance): unknown {
  const hosts = chance.of(HOSTS);
  const ports = chance.once(4) && hosts.length === 1
    ? [chance.of(STREAM_PORTS), ...chance.list(2, () => chance.of(PORTS))]
    : [chance.of(PORTS), ...chance.list(3, () => chance.of(PORTS))];
  const endpoints = Array.from({ length: 1 + chance.below(5) }, (_, index) => ({
    address: `10.0.0.${index + 1}`,
    labels: { version: chance.of(VERSIONS), color: chance.of(["blue", "green"]) },
    locality: chance.of(LOCALITIES),
    ...(chance.once(4) ? { drain: true } : {}),
    ...(chance.once(6) ? { weight: chance.below(5) } : {}),
  }));
  const names = chance.list(3, () => chance.of(["v1", "v2", "v3", "canary", "blue"]));
  const split = Object.fromEntries(names.map((name) => [name, chance.below(100)]));
  const hasSplit = Object.values(split).some((weight) => weight > 0);
  return {
    name: chance.of(["orders", "o".repeat(253), "a.b-c"]),
    namespace: chance.of(["default", "shop"]),
    hosts,
    ports: [...new Set(ports)],
    addresses: ["240.0.0.1"],
    endpoints,
    exportTo: chance.of(EXPORTS),
    labels: chance.once(3) ? { team: "shop" } : {},
    ...(hasSplit ? { split } : {}),
    ...(chance.once(2) ? { subsets: { blue: { color: "blue" } } } : {}),
    ...(chance.once(2) ? { failover: chance.of(FAILOVERS) } : {}),
    ...(chance.once(3) ? { minHealthy: chance.of(["50%", 0.3, 1]) } : {}),
  };
}
