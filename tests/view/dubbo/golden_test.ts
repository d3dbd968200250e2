/**
 * Services as people write them, and what Dubbo applications get of them. A case is a folder of
 * tests/testdata/views/dubbo with `in.yaml`; `out.yaml` holds where calls go (by `providedBy`), the
 * messages by name, and what is said of them. UPDATE_GOLDEN=1 writes it anew.
 */
import { assert, assertEquals } from "@std/assert";
import { dump } from "js-yaml";
import { XDS_TYPES, type XdsTypeName } from "../../../lib/model/xds_type.ts";
import { dubboRecipe } from "../../../lib/view/dubbo/recipe.ts";
import { makerOf, type XdsView } from "../../../lib/view/view_maker.ts";
import { anyJson } from "../../../lib/wire/proto_json.ts";
import { addressesOf, catalogueOf, readWorld } from "../world.ts";
import { callsOf } from "./as_dubbo_reads.ts";

const CASES = new URL("../../testdata/views/dubbo/", import.meta.url);
const UPDATE = Deno.env.get("UPDATE_GOLDEN") === "1";

const cases = [...Deno.readDirSync(CASES)].filter((entry) => entry.isDirectory).map((e) => e.name);

Deno.test("dubbo view: there are golden cases", () =>
  assert(cases.length >= 10, `${cases.length}`));

for (const name of cases.sort()) {
  Deno.test(`dubbo view: golden case ${name}`, () => {
    const folder = new URL(`${name}/`, CASES);
    const world = readWorld(Deno.readTextFileSync(new URL("in.yaml", folder)));
    const view = makerOf(dubboRecipe).make(catalogueOf(world), addressesOf(world));
    const text = dump(shown(view), { lineWidth: 100, noRefs: true });
    const out = new URL("out.yaml", folder);
    if (UPDATE) Deno.writeTextFileSync(out, text);
    else assertEquals(text, Deno.readTextFileSync(out));
  });
}

function shown(view: XdsView): unknown {
  const { collections, lookUps, findings } = view;
  const messages = XDS_TYPES.flatMap(({ name, typeUrl, shortName }) => {
    const all = messagesOf(collections, name, typeUrl);
    return Object.keys(all).length === 0 ? [] : [[shortName, all]];
  });
  return {
    calls: callsOf(view),
    ...Object.fromEntries(messages),
    lookUps: [...lookUps].sort(),
    findings,
  };
}

function messagesOf(
  collections: XdsView["collections"],
  type: XdsTypeName,
  typeUrl: string,
): Record<string, unknown> {
  return Object.fromEntries(
    Array.from(collections.get(type)!, ({ name, bytes }) => {
      const { "@type": _, ...message } = anyJson({ typeUrl, value: bytes });
      return [name, message];
    }),
  );
}
