import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { xdsType } from "../../lib/model/xds_type.ts";
import {
  collectionResolver,
  type Resolution,
  typeUrlResolver,
} from "../../lib/protocol/resolve.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { DUBBO_ANSWERS, snapshotOf } from "./fixtures.ts";

const everyKind = snapshotOf(
  Object.fromEntries(KINDS.map(({ kind }) => [kind, { [`shop/${kind.toLowerCase()}`]: "1" }])),
);

function served(resolution: Resolution) {
  assert(resolution.kind === "served", JSON.stringify(resolution));
  return [...resolution.type.collection(everyKind)!].map(({ name }) => name);
}

function message(resolution: Resolution): string {
  assert(resolution.kind === "unsupported");
  return resolution.message;
}

Deno.test("resolver: every kind is served under the type URL of each of its versions", () => {
  const resolver = typeUrlResolver();
  for (const { kind, group, versions } of KINDS) {
    for (const version of versions) {
      const names = served(resolver.resolve(`${group}/${version}/${kind}`));
      assertEquals(names, [`shop/${kind.toLowerCase()}`]);
    }
  }
});

Deno.test("resolver: every kind is served under its MCP collection", () => {
  const resolver = collectionResolver({ unknownCollection: "error" });
  for (const { kind, collection } of KINDS) {
    assertEquals(served(resolver.resolve(collection)), [`shop/${kind.toLowerCase()}`]);
  }
});

Deno.test("resolver: other types of Istio's, and MeshConfig, are empty", () => {
  const resolver = typeUrlResolver();
  for (const type of ["core/v1alpha1/MeshConfig", "new.istio.io/v1/Thing"]) {
    assertEquals(served(resolver.resolve(type)), []);
  }
});

Deno.test("resolver: a type that is not served is named, and so is what is served", () => {
  const text = message(typeUrlResolver().resolve("type.googleapis.com/x.Y"));
  assertStringIncludes(text, '"type.googleapis.com/x.Y" is not served');
  assertStringIncludes(text, "networking.istio.io/v1alpha3/ServiceEntry");
  assertStringIncludes(message(typeUrlResolver().resolve("")), "type_url");
});

Deno.test("resolver: a very long name is cut in the message", () => {
  const text = message(typeUrlResolver().resolve("x".repeat(100_000)));
  assert(text.length < 5000);
});

Deno.test("resolver: an unknown collection is empty or an error, as configured; none is always an error", () => {
  const unknown = "istio/config/v1alpha2/adapters";
  assertEquals(served(collectionResolver({ unknownCollection: "empty" }).resolve(unknown)), []);
  const refused = collectionResolver({ unknownCollection: "error" }).resolve(unknown);
  assertStringIncludes(message(refused), '"istio/config/v1alpha2/adapters" is not served');
  const none = collectionResolver({ unknownCollection: "empty" }).resolve("");
  assertStringIncludes(message(none), "must say its collection");
});

Deno.test("resolver: Dubbo's routes on a stream differ from those on the streams before", () => {
  const resolvers = xdsResolvers(DUBBO_ANSWERS);
  const { typeUrl } = xdsType("RouteConfiguration");
  const earlier = [1, 2, 3].map(() => {
    const resolution = resolvers(() => "dubbo").resolve(typeUrl);
    return resolution.kind === "served" ? resolution.type.earlier : undefined;
  });
  assertEquals(earlier, [0, 3, 6]);
});
