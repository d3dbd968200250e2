/**
 * Writes docs/api/*.schema.json out of the schemas in lib/admin.
 *
 * @module
 */
import { z } from "zod";
import { eventsSchema } from "../lib/admin/event_schema.ts";
import { statusSchema } from "../lib/admin/status_schema.ts";

/** The JSON schema of `/api/v1/status`, as committed. */
export function statusJsonSchema(): string {
  return jsonSchema("Status of a running Pinnace", statusSchema);
}

/** The JSON schema of `/api/v1/events`, as committed. */
export function eventsJsonSchema(): string {
  return jsonSchema("What a running Pinnace published", eventsSchema);
}

function jsonSchema(title: string, schema: z.ZodType): string {
  const described = z.toJSONSchema(schema, { target: "draft-2020-12" });
  return JSON.stringify({ title, ...described }, null, 2) + "\n";
}

if (import.meta.main) {
  for (const [name, text] of [["status", statusJsonSchema()], ["events", eventsJsonSchema()]]) {
    const place = new URL(`../docs/api/${name}.schema.json`, import.meta.url);
    await Deno.writeTextFile(place, text!);
  }
}
