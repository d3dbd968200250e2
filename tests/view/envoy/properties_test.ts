/** What holds of every view of Envoys, whatever the services are. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { XDS_TYPES } from "../../../lib/model/xds_type.ts";
import type { Catalogue } from "../../../lib/view/served_service.ts";
import type { XdsView } from "../../../lib/view/view_maker.ts";
import type { Json, JsonObject } from "../../../lib/wire/proto_json.ts";
import { resourcesOf, viewOf } from "./envoy_world.ts";
import { catalogues } from "./random_catalogue.ts";

/** Every object in a JSON value that has this key. */
function* having(json: Json, key: string): Generator<JsonObject> {
  if (typeof json !== "object" || json === null) return;
  if (!Array.isArray(json) && Object.hasOwn(json, key)) yield json as JsonObject;
  for (const item of Object.values(json)) yield* having(item, key);
}

/** Names of the clusters that something leads to. */
function clustersIn(json: Json): string[] {
  const single = [...having(json, "cluster")].map(({ cluster }) => String(cluster));
  const weighted = [...having(json, "weightedClusters")].flatMap(({ weightedClusters }) =>
    [...having(weightedClusters!, "name")].map(({ name }) => String(name))
  );
  return [...single, ...weighted];
}

function always(check: (view: XdsView, catalogue: Catalogue) => void): void {
  fc.assert(fc.property(catalogues, (catalogue) => check(viewOf(catalogue), catalogue)), {
    numRuns: 1500,
  });
}

Deno.test("envoy view: every resource is read, and has the name under which it is served", () => {
  always((view) => {
    for (const { shortName } of XDS_TYPES) {
      for (const [name, message] of Object.entries(resourcesOf(view)[shortName]!)) {
        assertEquals(message["clusterName"] ?? message["name"], name);
        assert([...having(message, "error")].length === 0, JSON.stringify(message));
        assert([...having(message, "unknownBytes")].length === 0, JSON.stringify(message));
      }
    }
  });
});

Deno.test("envoy view: a domain is in one virtual host of its routes only, and each has one", () => {
  always((view) => {
    for (const { virtualHosts } of Object.values(resourcesOf(view)["RDS"]!)) {
      const hosts = virtualHosts as readonly JsonObject[];
      const domains = hosts.flatMap((host) => host["domains"] as readonly string[]);
      assertEquals(new Set(domains.map((d) => d.toLowerCase())).size, domains.length);
      assert(hosts.every((host) => (host["domains"] as readonly string[]).length > 0));
    }
  });
});

Deno.test("envoy view: nothing leads to a cluster that is not there", () => {
  always((view) => {
    const { CDS, LDS, RDS } = resourcesOf(view);
    for (const name of [...clustersIn(LDS!), ...clustersIn(RDS!)]) {
      assert(Object.hasOwn(CDS!, name), `${name} is not there`);
    }
  });
});

Deno.test("envoy view: every cluster that asks for its endpoints gets them, and no others are there", () => {
  always((view) => {
    const { CDS, EDS } = resourcesOf(view);
    const asking = Object.entries(CDS!).filter(([, { type }]) => type === "EDS").map(([n]) => n);
    assertEquals(Object.keys(EDS!).sort(), asking.sort());
  });
});

Deno.test("envoy view: every listener that asks for routes gets them, and no port is listened on twice", () => {
  always((view) => {
    const { LDS, RDS } = resourcesOf(view);
    const asked = [...having(LDS!, "routeConfigName")].map((rds) => String(rds["routeConfigName"]));
    assertEquals(new Set(Object.keys(RDS!)), new Set(asked));
    const ports = Object.values(LDS!).map(({ address }) =>
      ((address as JsonObject)["socketAddress"] as JsonObject)["portValue"] as number
    );
    assertEquals(new Set(ports).size, ports.length);
    assert(ports.every((port) => port > 0 && port < 65536));
  });
});

Deno.test("envoy view: no two filter chains of a listener match alike", () => {
  always((view) => {
    for (const { filterChains } of Object.values(resourcesOf(view)["LDS"]!)) {
      const matches = (filterChains as readonly JsonObject[]).flatMap(({ filterChainMatch }) =>
        expanded(filterChainMatch as JsonObject)
      );
      assertEquals(new Set(matches).size, matches.length, matches.join("\n"));
    }
  });
});

/** Each combination of what a match lists, as Envoy takes it. */
function expanded(match: JsonObject): string[] {
  const listed = (key: string) => (match[key] as readonly Json[] | undefined) ?? [""];
  return listed("prefixRanges").flatMap((range) =>
    listed("serverNames").flatMap((name) =>
      listed("applicationProtocols").map((protocol) =>
        JSON.stringify([range, name, match["transportProtocol"], protocol])
      )
    )
  );
}

Deno.test("envoy view: findings are of services of the view", () => {
  always((view, { services }) => {
    for (const { key, rule, message } of view.findings) {
      assert(services.has(key) && rule.startsWith("view/") && message !== "");
    }
  });
});
