/**
 * The schema of `envoy`: what Envoys are told that are served directly.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { DEFAULTS } from "./defaults.ts";
import { mapping, text } from "./schema_parts.ts";

const OFFSET_RANGE = "must be a whole number from 0 to 65534";

/** `envoy`. */
export const envoySchema = mapping({
  bind: z.string()
    .refine(isAddress, "must be an IP address, as in 127.0.0.1 or ::1")
    .meta({
      description: "IP address that outbound listeners bind to. Whoever reaches it reaches every " +
        "service: there is no authentication.",
      default: DEFAULTS.envoyBind,
    }).optional(),
  portOffset: z.int(OFFSET_RANGE).min(0, OFFSET_RANGE).max(65534, OFFSET_RANGE)
    .meta({
      description: "Added to the port of a service to get that of its listener.",
      default: DEFAULTS.portOffset,
    }).optional(),
  trustedCa: text(
    "File on the Envoy's machine with the authorities that vouch for endpoints of services with `subjectAltNames`.",
  ).meta({ default: DEFAULTS.trustedCa }).optional(),
}).describe("What Envoys are told that are served directly.");

function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ||
    (ipaddr.IPv6.isValid(text) && !text.includes("%"));
}
