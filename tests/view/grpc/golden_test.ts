/**
 * Services as people write them, and what gRPC programs get of them. A case is a folder of
 * tests/testdata/views/grpc with `in.yaml`; `out.yaml` holds the messages by type and name, with what is
 * said of them. UPDATE_GOLDEN=1 writes it anew.
 */
import { assert, assertEquals } from "@std/assert";
import { dump } from "js-yaml";
import { routerCodec } from "../../../lib/wire/messages.ts";
import { refusals } from "./refusals.ts";
import { type GrpcView, readWorld, viewOfWorld } from "./world.ts";

const CASES = new URL("../../testdata/views/grpc/", import.meta.url);
const UPDATE = Deno.env.get("UPDATE_GOLDEN") === "1";

const cases = [...Deno.readDirSync(CASES)].filter((entry) => entry.isDirectory).map((e) => e.name);

Deno.test("grpc view: there are golden cases", () => assert(cases.length >= 10, `${cases.length}`));

for (const name of cases.sort()) {
  Deno.test(`grpc view: golden case ${name}`, () => {
    const folder = new URL(`${name}/`, CASES);
    const view = viewOfWorld(readWorld(Deno.readTextFileSync(new URL("in.yaml", folder))));
    assertEquals(refusals(view), [], "a client would refuse it");
    const text = dump(shown(view), { lineWidth: 100, noRefs: true });
    const out = new URL("out.yaml", folder);
    if (UPDATE) Deno.writeTextFileSync(out, text);
    else assertEquals(text, Deno.readTextFileSync(out));
  });
}

/** What was set of each message, as plain objects: what is empty, false or the first of its enum is left out. */
function shown(view: GrpcView): unknown {
  return JSON.parse(JSON.stringify(view), (key, value) => {
    if (key === "typedConfig") return { router: routerCodec.typeUrl === value.typeUrl };
    if (key === "typedPerFilterConfig" && Object.keys(value).length === 0) return undefined;
    if (value === "" || value === false || value === 0) return undefined;
    if (FIRST.has(value) || (Array.isArray(value) && value.length === 0)) return undefined;
    return value;
  });
}

const FIRST = new Set<unknown>(["AUTO", "OVERWRITE", "UNKNOWN", "TCP"]);
