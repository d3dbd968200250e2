import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { XDS_TYPES, xdsType } from "../../lib/model/xds_type.ts";
import { oneTypeResolver } from "../../lib/protocol/one_type_resolver.ts";
import type { Resolution, Resolver } from "../../lib/protocol/resolve.ts";

const SAID: Resolution = { kind: "unsupported", message: "as the other says" };

/** Keeps what it is asked. */
class Asked implements Resolver {
  readonly types: string[] = [];

  resolve(type: string): Resolution {
    this.types.push(type);
    return SAID;
  }
}

Deno.test("one type resolver: its type is as the other resolver says", () => {
  for (const type of XDS_TYPES) {
    const inner = new Asked();
    assertEquals(oneTypeResolver(inner, type).resolve(type.typeUrl), SAID);
    assertEquals(inner.types, [type.typeUrl]);
  }
});

Deno.test("one type resolver: any other is refused, with where to ask for it", () => {
  const inner = new Asked();
  const resolver = oneTypeResolver(inner, xdsType("Cluster"));
  const refusal = (type: string) => {
    const resolution = resolver.resolve(type);
    assert(resolution.kind === "unsupported");
    assertStringIncludes(resolution.message, "envoy.service.cluster.v3.ClusterDiscoveryService");
    return resolution.message;
  };
  assertStringIncludes(
    refusal(xdsType("Listener").typeUrl),
    "ask envoy.service.listener.v3.ListenerDiscoveryService for it, or AggregatedDiscoveryService",
  );
  assertStringIncludes(
    refusal("networking.istio.io/v1/ServiceEntry"),
    "AggregatedDiscoveryService serves other types than those of CDS, EDS, LDS, RDS",
  );
  assert(refusal("x".repeat(10_000)).length < 600);
  assertEquals(inner.types, []);
});
