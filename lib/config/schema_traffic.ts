/**
 * The schema of what a service says of its traffic: subsets, split, failover, minHealthy.
 *
 * @module
 */
import { z } from "zod";
import { rules } from "./schema_shared.ts";

/** A DNS label, the form of a subset's name. */
const SUBSET = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

const subsetName = z.string().regex(
  SUBSET,
  "cannot be the name of a subset: write lower-case letters, digits and -, at most 63 of them",
);

/** Largest weight: sums of weights stay far from where 32 bits end. */
const MOST_WEIGHT = 1_000_000;

const WEIGHT_RANGE = `must be a whole number from 0 to ${MOST_WEIGHT}`;

/** Each subset is a cluster on each port. */
const MOST_SUBSETS = 100;

const isFew = (map: Readonly<Record<string, unknown>>) => Object.keys(map).length <= MOST_SUBSETS;
const TOO_MANY = `must hold at most ${MOST_SUBSETS} subsets`;

/** `subsets`: labels by name. */
export const subsetsSchema = z.record(
  subsetName,
  z.record(z.string(), z.string())
    .refine((labels) => Object.keys(labels).length > 0, "must hold at least one label")
    .describe("Labels that an endpoint of the subset has, all of them. Values are text."),
).refine(isFew, TOO_MANY).describe("Subsets of the endpoints, by name: { blue: { color: blue } }.");

/** `split`: weights by subset. */
export const splitSchema = z.record(
  subsetName,
  z.int(WEIGHT_RANGE).min(0, WEIGHT_RANGE).max(MOST_WEIGHT, WEIGHT_RANGE),
).refine(isFew, TOO_MANY).refine(
  (weights) => Object.values(weights).some((weight) => weight > 0),
  "must give some subset a weight above 0",
).describe(
  "Shares of the traffic by subset: { v1: 80, v2: 20 }. A name that `subsets` does not have means " +
    "the endpoints with that label `version`.",
);

/** `failover`: localities in the order of preference. */
export const failoverSchema = rules(
  z.string().regex(
    /^[^/\s*]+(?:\/[^/\s*]+){0,2}$/,
    "must be region, region/zone or region/zone/subzone",
  ).meta({ examples: ["eu/fra", "eu"] }),
).min(1, "must not be empty; leave it out where all localities are alike")
  .max(16, "must hold at most 16 localities")
  .describe(
    "Localities in the order of preference: endpoints in the first one are used as long as there " +
      "are any; those in none come last.",
  );

const SHARE = "must be a share: 0 to 1, or 0% to 100%";
const PERCENT = /^(\d{1,3}(?:\.\d+)?)%$/;

/** `minHealthy`: 0.5 or 50%. */
export const minHealthySchema = z.union([
  z.number().min(0, SHARE).max(1, SHARE),
  z.string().regex(PERCENT, SHARE)
    .refine((text) => !PERCENT.test(text) || parseShare(text) <= 1, SHARE),
]).meta({
  description: "Share of the endpoints that must not drain; below it, `drain` is ignored.",
  default: 0,
  examples: ["50%", 0.5],
});

/** A share as written, as a number from 0 to 1. */
export function parseShare(share: string | number): number {
  return typeof share === "number" ? share : Number(PERCENT.exec(share)![1]) / 100;
}
