/**
 * The schema of `peers`: what peers get that match.
 *
 * @module
 */
import { z } from "zod";
import { mapping, text, texts } from "./schema_parts.ts";
import { namespacePatterns, rules, wave } from "./schema_shared.ts";

const matchSchema = mapping({
  id: text("Node id.").optional(),
  annotations: texts("Annotations of an MCP sink's node.").optional(),
  metadata: texts("Texts of an xDS node's metadata, for example ISTIO_VERSION.").optional(),
  identity: text("SPIFFE URI or DNS name of the client's certificate.").optional(),
  listener: text("Address of `listen` that it dialled, as written there.").optional(),
  sink: text("Name of the sink, where we dialled.").optional(),
}).describe("All that is given must match; * stands for any text. {}: every peer.");

/** `peers`. */
export const peersSchema = rules(mapping({
  match: matchSchema,
  as: z.enum(["istio", "envoy", "grpc", "dubbo"])
    .describe("What kind of client it is. Default: told by what it says of itself.").optional(),
  namespaces: namespacePatterns("Namespaces that it gets. Default: all."),
  labels: texts("Labels that a resource must have. Values are text: put numbers in quotes.")
    .meta({ default: {} }).optional(),
  wave: wave(),
})).meta({ description: "Rules for peers; the first that matches counts.", default: [] });
