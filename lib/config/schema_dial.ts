/**
 * The schema of whom we dial: `sinks`, and the `xds://` among `include`.
 *
 * @module
 */
import { z } from "zod";
import { DEFAULTS } from "./defaults.ts";
import { duration, mapping, text } from "./schema_parts.ts";
import { address, collections, namespacePatterns, path, wave } from "./schema_shared.ts";

const clientTls = z.union([
  path("Folder: ca.crt, if there, says whom to trust; tls.crt and tls.key are shown, if there."),
  z.literal(true).describe("Trust the system's CAs."),
  mapping({
    folder: path("Folder with the files, instead of `ca`, `cert` and `key`.").optional(),
    ca: path("Whom to trust, as PEM. Default: the system's CAs.").optional(),
    cert: path("Certificate that is shown, as PEM; only with `key`.").optional(),
    key: path("Its private key, as PEM; only with `cert`.").optional(),
    serverName: z.string().max(253, "must be at most 253 characters long")
      .regex(/^[A-Za-z0-9_](?:[\w.:-]*[A-Za-z0-9])?$/, "must be a host name or IP address")
      .describe("Name that the server's certificate must have. Default: the host dialled.")
      .optional(),
  }),
]).describe("TLS: a folder, true, or the files one by one. Default: plaintext.");

const dialShape = {
  tls: clientTls.optional(),
  tokenFile: path("File whose content is sent as a bearer token; read at each attempt.").optional(),
  proxy: text(
    "HTTP CONNECT proxy, http://[user:password@]host:port. ${NAME} is an environment variable.",
  ).optional(),
  headers: z.record(
    z.string().regex(/^[0-9a-z_.-]+$/, "must be lower-case letters, digits, _ . and -"),
    z.string().describe("Text. ${NAME} is an environment variable."),
  ).describe("gRPC metadata sent with each stream, for example a token.").optional(),
};

/** An item of `sinks`. */
export const sinkSchema = z.union([
  address("Address of a sink, which is also its name."),
  mapping({
    name: z.string()
      .regex(
        /^[A-Za-z0-9](?:[\w.:-]*[A-Za-z0-9])?$/,
        "must be letters, digits, and -_.: in between",
      )
      .max(128, "must be at most 128 characters long")
      .describe("Unique name in logs, metrics and status. Default: the address.").optional(),
    address: address("Every address behind the host gets a stream of its own."),
    ...dialShape,
    heartbeat: duration(
      "A stream idle this long is asked for a sign of life.",
      DEFAULTS.heartbeat,
      { min: "100ms", max: "1h" },
    ).optional(),
    collections: collections("MCP collections that the sink may have; empty: all."),
    wave: wave(),
  }),
]);

/** An item of `include`. */
export const includeSchema = z.union([
  text("A file, a folder (its *.yaml, *.yml and *.json), a pattern, or xds://host:port."),
  mapping({
    xds: address("MCP-over-xDS server whose resources are served along with our own."),
    ...dialShape,
    namespaces: namespacePatterns("Namespaces that it may fill. Default: all."),
  }),
]);
