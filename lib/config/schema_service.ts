/**
 * The schema of one service. What it checks is form; whether a service makes sense to a mesh is
 * checked by conversion's rules.
 *
 * @module
 */
import { z } from "zod";
import { mapping, portNumber, text, texts } from "./schema_parts.ts";
import { failoverSchema, minHealthySchema, splitSchema, subsetsSchema } from "./schema_traffic.ts";

/** `443`, `443:8443`, `443/HTTP` or `443:8443/GRPC`: port, port of the endpoints, protocol. */
export const SHORT_PORT = /^(\d{1,5})(?::(\d{1,5}))?(?:\/([A-Za-z0-9_-]+))?$/;

const SHORT_PORT_FORM =
  "is no port; write number:targetPort/PROTOCOL, as in 443:8443/GRPC or 80/HTTP";

const shortPort = z.string()
  .regex(SHORT_PORT, SHORT_PORT_FORM)
  .refine((port) => {
    const match = SHORT_PORT.exec(port);
    return match === null || [match[1], match[2] ?? "1"].every((n) => isPort(Number(n)));
  }, "holds a port number that is not from 1 to 65535")
  .meta({
    description: "number:targetPort/PROTOCOL; the port is then named grpc-443.",
    examples: ["443:8443/GRPC", "80/HTTP", "5432"],
  });

const longPort = mapping({
  name: text("Name of the port. Default: the protocol in lower case and the number, grpc-443.")
    .optional(),
  number: portNumber("Port that clients of the service use."),
  protocol: text("Protocol: HTTP, HTTPS, HTTP2, GRPC, TLS, TCP, MONGO, … Default: TCP.").optional(),
  targetPort: portNumber("Port of the endpoints. Default: the same.").optional(),
}, { neighbours: serviceAround });

const portSchema = z.union([
  portNumber("A port that is named tcp-5432 and so on; its protocol is TCP."),
  shortPort,
  longPort,
]);

const labels = texts("Labels. Values are text: put numbers in quotes.");

const longEndpoint = mapping({
  address: text(
    "IP address, DNS name, or unix:///path. May be left out only where `network` is given.",
  )
    .optional(),
  ports: z.record(z.string(), portNumber("Port of this endpoint."))
    .describe("Ports by the name of the service's port, where they differ from targetPort.")
    .optional(),
  labels: labels.optional(),
  network: text("Network that the endpoint is in.").optional(),
  locality: text("region/zone/subzone.").optional(),
  weight: z.int().min(0, "must be 0 or more").max(4294967295, "must be at most 4294967295")
    .describe("Share of the traffic relative to the other endpoints; 0 takes the endpoint out.")
    .optional(),
  serviceAccount: text("Service account of the workload, without the namespace.").optional(),
  drain: z.boolean()
    .meta({
      description: "It is being taken out of service: no new requests, what it has goes on.",
      default: false,
    }).optional(),
}, { neighbours: serviceAround });

const endpointSchema = z.union([text("IP address, DNS name, or unix:///path."), longEndpoint]);

/** A DNS label, the form of a namespace. */
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** A DNS subdomain, the form of a name. */
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** The name of a resource as Kubernetes has it. */
export function resourceName(description: string): z.ZodString {
  return z.string()
    .max(253, "must be at most 253 characters long")
    .regex(NAME, {
      error: (issue) => `must be lower-case letters, digits, - and .${suggestion(issue.input)}`,
    })
    .describe(description);
}

/** The name of a namespace as Kubernetes has it. */
export function namespaceName(description: string): z.ZodString {
  return z.string()
    .regex(NAMESPACE, "must be lower-case letters, digits and -, at most 63 of them")
    .describe(description);
}

const alias = z.string().regex(
  /^[A-Za-z0-9_](?:[-\w.]*\w)?$/,
  "must be a name of letters, digits, -, _ and ., without a port",
).max(253, "must be at most 253 characters long").meta({ examples: ["billing-provider"] });

/** One service, short or long form. */
export const serviceSchema = mapping({
  name: resourceName("Name of the service; unique in its namespace."),
  namespace: namespaceName("Namespace. Default: defaults.namespace.").optional(),
  hosts: z.array(text("A DNS name, *. in front for a wildcard."))
    .min(1, "must hold at least one host; leave it out for the default")
    .describe("Hosts. Default: <name>.<namespace>.<domain>.")
    .optional(),
  addresses: z.array(text("An IP address or CIDR."))
    .describe("Virtual addresses of the service.").optional(),
  ports: z.array(portSchema).min(1, "must hold at least one port").describe("Ports."),
  location: z.enum(["MESH_EXTERNAL", "MESH_INTERNAL"])
    .describe("Whether the service is part of the mesh. Default: MESH_EXTERNAL.").optional(),
  resolution: z.enum(["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"])
    .describe(
      "How endpoints are found. Default: STATIC for IP addresses, unix:// or an empty list; DNS for " +
        "names; without endpoints STATIC with a workloadSelector, NONE with a wildcard host, else DNS.",
    ).optional(),
  endpoints: z.array(endpointSchema).describe("Endpoints.").optional(),
  workloadSelector: mapping({ labels: labels })
    .describe("Selects workloads by label, instead of endpoints.").optional(),
  exportTo: z.array(text("A namespace, . for the service's own, * for all."))
    .describe("Namespaces that see the service. Default: defaults.exportTo.").optional(),
  subjectAltNames: z.array(text("A subject alternative name."))
    .describe("Names that the endpoints' certificates must bear.").optional(),
  labels: labels.optional(),
  annotations: texts("Annotations. Values are text: put numbers in quotes.").optional(),
  aliases: z.array(alias).describe("Further names for clients that are served by xDS directly.")
    .optional(),
  subsets: subsetsSchema.optional(),
  split: splitSchema.optional(),
  failover: failoverSchema.optional(),
  minHealthy: minHealthySchema.optional(),
}, { neighbours: () => ({ "an endpoint": longEndpoint, "a port": longPort }) });

function serviceAround(): Readonly<Record<string, z.ZodObject>> {
  return { "the service": serviceSchema };
}

/** A service as written, of the right form. */
export type ServiceInput = z.infer<typeof serviceSchema>;
/** A port as written. */
export type PortInput = z.infer<typeof portSchema>;
/** An endpoint as written. */
export type EndpointInput = z.infer<typeof endpointSchema>;

function isPort(number: number): boolean {
  return number >= 1 && number <= 65535;
}

function suggestion(input: unknown): string {
  if (typeof input !== "string") return "";
  const proposal = input.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/\.+/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "").replace(/-*\.-*/g, ".");
  return NAME.test(proposal) ? `; ${proposal} would do` : "";
}
