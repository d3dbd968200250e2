/**
 * The schema of the configuration: of the file that `--config` names (or the files in the folder that
 * it names) and of the files that these include.
 *
 * @module
 */
import { z } from "zod";
import { DEFAULTS } from "./defaults.ts";
import { includeSchema, sinkSchema } from "./schema_dial.ts";
import { envoySchema } from "./schema_envoy.ts";
import { listenSchema } from "./schema_listen.ts";
import { duration, mapping, size, text } from "./schema_parts.ts";
import { peersSchema } from "./schema_peers.ts";
import { receiveSchema } from "./schema_receive.ts";
import { namespaceName, serviceSchema } from "./schema_service.ts";
import { address } from "./schema_shared.ts";

const settingsShape = {
  instance: z.string().regex(
    /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/,
    "must be letters, digits, and -_. in between",
  ).max(253, "must be at most 253 characters long")
    .describe("Our name to peers. Default: the host name.").optional(),
  defaults: mapping({
    namespace: namespaceName("Namespace of services that name none.")
      .meta({ default: DEFAULTS.namespace }).optional(),
    domain: z.string().regex(
      /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
      "must be a domain name in lower case, without a dot at the ends",
    ).meta({ description: "Domain of hosts that are made from names.", default: DEFAULTS.domain })
      .optional(),
    exportTo: z.array(text("A namespace, . for the service's own, * for all."))
      .meta({ description: "Namespaces that see a service.", default: DEFAULTS.exportTo })
      .optional(),
  }).describe("What services get that do not say it themselves.").optional(),
  include: z.array(includeSchema)
    .describe("Further files with services, relative to this file, and other servers.").optional(),
  listen: listenSchema.optional(),
  peers: peersSchema.optional(),
  sinks: z.array(sinkSchema).describe("ResourceSinks that are dialled.").optional(),
  receive: receiveSchema.describe("Be a ResourceSink for other sources. Default: not.").optional(),
  push: mapping({
    quiet: duration(
      "A change waits until the files have been quiet for this long.",
      DEFAULTS.quiet,
      { min: "0", max: "1m" },
    ).optional(),
    max: duration("But never longer than this.", DEFAULTS.max, { min: "1ms", max: "10m" })
      .optional(),
    guard: z.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1").meta({
      description: "Share of the published resources that one load may remove unconfirmed.",
      default: DEFAULTS.guard,
    }).optional(),
  }, { later: ["waves"] }).describe("When a change is pushed.").optional(),
  envoy: envoySchema.optional(),
  watch: mapping({
    poll: duration(
      "How often files are compared even without an event.",
      DEFAULTS.poll,
      { min: "100ms", max: "1h" },
    ).optional(),
  }).describe("How files are watched.").optional(),
  limits: mapping({
    file: size("Largest included file.", DEFAULTS.file, { min: "1KiB", max: "256MiB" }).optional(),
    message: size(
      "Largest message taken from a peer.",
      DEFAULTS.message,
      { min: "64KiB", max: "1GiB" },
    ).optional(),
  }).describe("Bounds on what is read and taken.").optional(),
  admin: z.union([
    address("Address of the admin listener."),
    z.literal(false).describe("No admin listener."),
    mapping({ address: address("Address of the admin listener.") }),
  ]).meta({
    description: "Health, metrics and status over HTTP; false: none.",
    default: DEFAULTS.admin,
  }).optional(),
  log: mapping({
    level: z.enum(["debug", "info", "warn", "error"])
      .meta({ description: "Least level that is logged.", default: DEFAULTS.logLevel }).optional(),
    format: z.enum(["text", "json"])
      .meta({ description: "Text for people or JSON lines.", default: DEFAULTS.logFormat })
      .optional(),
  }).describe("How and how much is logged.").optional(),
  mcp: mapping({
    unknownCollection: z.enum(["empty", "error"]).meta({
      description: "Answer to a request for a collection that is not served.",
      default: DEFAULTS.unknownCollection,
    }).optional(),
  }).describe("The MCP ResourceSource.").optional(),
};

/** Top-level keys of a `--config` file besides `services`. */
export const SETTING_KEYS = Object.keys(settingsShape) as (keyof typeof settingsShape)[];

/** A `--config` file, services unchecked: they are checked one by one, and only where they changed. */
export const configFileSchema = mapping({
  ...settingsShape,
  services: z.array(z.unknown()).optional(),
});

/** An included file, services unchecked. */
export const includedFileSchema = mapping({ services: z.array(z.unknown()) }, {
  elsewhere: Object.fromEntries(
    SETTING_KEYS.map((
      key,
    ) => [key, "an included file holds `services` alone; settings go into the --config file"]),
  ),
});

/** The whole `--config` file, for editors. */
export const wholeFileSchema = mapping({
  ...settingsShape,
  services: z.array(serviceSchema).describe("The services.").optional(),
});

/** Settings as written, of the right form. */
export type SettingsInput = Omit<z.infer<typeof configFileSchema>, "services">;
