/**
 * The schema of `listen`: where sinks and clients connect.
 *
 * @module
 */
import { z } from "zod";
import { DEFAULTS } from "./defaults.ts";
import { mapping } from "./schema_parts.ts";
import { address, path, rules } from "./schema_shared.ts";

/** What a server shows and whom it trusts. */
export const serverTls = z.union([
  path("Folder with tls.crt, tls.key and, for client certificates, ca.crt."),
  mapping({
    cert: path("Certificate, with those above it, as PEM."),
    key: path("Its private key, as PEM."),
    ca: path("Whose client certificates count, as PEM. Default: none is asked for.").optional(),
  }),
]).describe("TLS: a folder, or each file by its own path. Default: plaintext.");

const identityPattern = z.string().regex(
  /^(?:spiffe:\/\/\S+|[A-Za-z0-9_.*-]+|\*\S*)$/,
  "must be a SPIFFE URI (spiffe://…) or a DNS name, in which * stands for any text",
).meta({ examples: ["spiffe://example.org/ns/istio-system/sa/istiod", "*.example.org"] });

const EMPTY_ALLOW =
  "must not be empty: that could mean nobody or everybody; leave it out to let in whomever the CA vouches for";

/** Items of `listen`. */
export const listenSchema = z.array(z.union([
  address("Address of a listener."),
  mapping({
    address: address("Address of a listener."),
    tls: serverTls.optional(),
    allow: rules(identityPattern).min(1, EMPTY_ALLOW).describe(
      "Patterns of the SPIFFE URIs and DNS names of client certificates that may connect. " +
        "Default: any that the CA vouches for.",
    ).optional(),
    insecure: z.boolean().meta({
      description: "Whether plaintext that leaves this machine is meant.",
      default: false,
    }).optional(),
  }),
])).meta({ description: "Where sinks and clients connect.", default: DEFAULTS.listen });
