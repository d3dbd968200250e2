/**
 * The schema of `receive`: being a ResourceSink for other sources.
 *
 * @module
 */
import { z } from "zod";
import { DEFAULTS } from "./defaults.ts";
import { serverTls } from "./schema_listen.ts";
import { duration, mapping } from "./schema_parts.ts";
import { address, collections, namespacePatterns, path, rules } from "./schema_shared.ts";

const sourcePattern = z.string().regex(
  /^\S{1,512}$/,
  "must be the name of a source, without spaces, in which * stands for any text",
).meta({ examples: ["spiffe://example.org/edge/*", "edge-fra-*"] });

const EMPTY_FROM =
  "must not be empty: that could mean nobody or everybody; leave it out for every source, or take out `receive` for none";

const tokenName = z.string()
  .regex(
    /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/,
    "must be letters, digits, and -_. in between",
  )
  .max(253, "must be at most 253 characters long");

const from = rules(z.union([
  sourcePattern.describe("Sources that may fill every namespace."),
  mapping({
    source: sourcePattern.describe("Names of sources."),
    namespaces: namespacePatterns("Namespaces that they may fill. Default: all."),
  }),
])).min(1, EMPTY_FROM).describe(
  "Which sources are taken in, and what they may fill; the first that matches counts. A source is named by its " +
    "certificate's SPIFFE URI or DNS name, its token's name, its instance or its address. Default: all.",
);

/** `receive`. */
export const receiveSchema = z.union([
  address("Where sources dial in."),
  mapping({
    address: address("Where sources dial in."),
    tls: serverTls.optional(),
    insecure: z.boolean().meta({
      description: "Whether it is meant that sources can prove nothing, or use plaintext.",
      default: false,
    }).optional(),
    from: from.optional(),
    tokens: z.record(tokenName, path("File with a bearer token.")).meta({
      description: "Files with bearer tokens, by the name of the source that holds it.",
      default: {},
    }).optional(),
    merge: z.enum(["endpoints", "refuse"]).meta({
      description: "What becomes of equal hosts in entries of different names.",
      default: DEFAULTS.merge,
    }).optional(),
    keep: duration(
      "How long the set of a source that is away is kept. Default: for ever.",
      undefined,
      { min: "1s", max: "87600h" },
    ).optional(),
    collections: collections("MCP collections asked for; empty: all."),
  }, { elsewhere: { allow: "`from` says which sources are taken in" } }),
]);
