/**
 * The schema of the configuration file as JSON Schema, for editors. Run as a program it writes
 * `config.schema.json`.
 *
 * @module
 */
import { z } from "zod";
import { wholeFileSchema } from "./schema.ts";

/** JSON Schema (draft 7, which every editor knows) of the configuration file. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(wholeFileSchema, {
    target: "draft-07",
    io: "input",
    // Mappings are checked for unknown keys by a check of their own; to an editor they are closed.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === "object") jsonSchema.additionalProperties = false;
    },
  });
  return { ...schema, title: "Pinnace configuration" };
}

if (import.meta.main) {
  const file = new URL("../../config.schema.json", import.meta.url);
  Deno.writeTextFileSync(file, `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`);
}
