/**
 * What `/api/v1/events` says of each change that was published. The schema is the source;
 * docs/api/events.schema.json is made of it.
 *
 * @module
 */
import { z } from "zod";
import type { Cause } from "../model/cause.ts";

const time = z.iso.datetime().describe("RFC 3339, UTC");

/** The schema of one reason; a {@link Cause} is one. */
const cause: z.ZodType<Cause> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("file"),
    name: z.string(),
    what: z.enum(["added", "changed", "removed"]),
  }),
  z.object({ kind: z.literal("source"), name: z.string() }),
  z.object({ kind: z.literal("settings") }),
  z.object({ kind: z.literal("confirmed"), id: z.string() }).describe("a person let it pass"),
  z.object({ kind: z.literal("start") }).describe(
    "the process started: from the store, or loaded first",
  ),
  z.object({ kind: z.literal("more"), count: z.int() }).describe("beyond the first 100"),
]);

const names = z.object({
  count: z.int(),
  names: z.array(z.string()).describe("the first 50"),
});

const difference = z.object({ added: names, changed: names, removed: names });

/** The schema of one event. */
export const eventSchema = z.object({
  seq: z.int().describe("counts up from 1 since the start of the process"),
  id: z.string().describe("the snapshot published"),
  at: time.describe("when it was published"),
  changedAt: time.describe("when the first of its changes was noticed"),
  causes: z.array(cause).describe("every reason, also of changes that went out as one"),
  services: difference.describe("by namespace/name"),
  resources: difference.describe("by kind/namespace/name"),
  answers: z.object({
    acks: z.int(),
    nacks: z.int(),
    lost: z.int().describe("the stream ended before an answer came"),
    pending: z.int().describe("sent, and not answered yet"),
    slowestMs: z.number().optional().describe("from the change noticed to the slowest answer"),
  }).describe("of peers that had subscribed before"),
});

/** The schema of `/api/v1/events`. */
export const eventsSchema = z.object({
  events: z.array(eventSchema).describe("newest first"),
});

/** One change that was published. */
export type ChangeEvent = z.infer<typeof eventSchema>;
