/**
 * Writes docs/api/status.schema.json out of the schema in lib/admin/status.ts.
 *
 * @module
 */
import { z } from "zod";
import { statusSchema } from "../lib/admin/status.ts";

/** The JSON schema of `/api/v1/status`, as committed. */
export function statusJsonSchema(): string {
  const schema = z.toJSONSchema(statusSchema, { target: "draft-2020-12" });
  return JSON.stringify({ title: "Status of a running Pinnace", ...schema }, null, 2) + "\n";
}

if (import.meta.main) {
  const place = new URL("../docs/api/status.schema.json", import.meta.url);
  await Deno.writeTextFile(place, statusJsonSchema());
}
