/** Views of Envoys for tests: from services as people write them to what an Envoy is told. */
import { load } from "js-yaml";
import type { EnvoySettings } from "../../../lib/model/settings.ts";
import { XDS_TYPES } from "../../../lib/model/xds_type.ts";
import { envoyRecipe } from "../../../lib/view/envoy/envoy_recipe.ts";
import type { Catalogue } from "../../../lib/view/served_service.ts";
import { makerOf, type XdsView } from "../../../lib/view/view_maker.ts";
import { NO_ADDRESSES } from "../../../lib/view/recipe.ts";
import { anyJson, type JsonObject } from "../../../lib/wire/proto_json.ts";
import { CONTEXT } from "../services.ts";
import { catalogueOf, readWorld } from "../world.ts";

/** A case: what every kind of client's has, and settings of Envoy's. */
export interface EnvoyCase {
  readonly name: string;
  readonly view: XdsView;
}

const CASES = new URL("../../testdata/views/envoy/", import.meta.url);

/** Folder of a golden case. */
export function caseFolder(name: string): URL {
  return new URL(`${name}/`, CASES);
}

/** Every golden case, by name. */
export function readCases(): EnvoyCase[] {
  return [...Deno.readDirSync(CASES)].filter((entry) => entry.isDirectory).map(({ name }) => {
    const text = Deno.readTextFileSync(new URL("in.yaml", caseFolder(name)));
    return { name, view: viewOfText(text) };
  }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What Envoys get of a case, as YAML. */
export function viewOfText(text: string): XdsView {
  const { envoy = {} } = load(text) as { envoy?: Partial<EnvoySettings> };
  const context = { ...CONTEXT, envoy: { ...CONTEXT.envoy, ...envoy } };
  return viewOf({ ...catalogueOf(readWorld(text)), context });
}

/** What Envoys get of a catalogue. */
export function viewOf(catalogue: Catalogue): XdsView {
  return makerOf(envoyRecipe).make(catalogue, NO_ADDRESSES);
}

/** The resources of each type, by its short name; as JSON by name, in which what has its default is left out. */
export function resourcesOf({ collections }: XdsView): Record<string, Record<string, JsonObject>> {
  return Object.fromEntries(XDS_TYPES.map(({ name: type, typeUrl, shortName }) => [
    shortName,
    Object.fromEntries(Array.from(collections.get(type)!, ({ name, bytes }) => {
      const { "@type": _, ...message } = anyJson({ typeUrl, value: bytes });
      return [name, message];
    })),
  ]));
}
