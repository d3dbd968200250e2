/**
 * Forms that several settings share: addresses, files of TLS, patterns, collections, waves.
 *
 * @module
 */
import { z } from "zod";
import { KINDS } from "../model/kind.ts";
import { DEFAULTS } from "./defaults.ts";
import { nearest } from "./nearest.ts";
import { text } from "./schema_parts.ts";

/** `host:port`; whether it is one is known only once its variables are filled in. */
export function address(what: string): z.ZodString {
  return text(`${what} host:port, an IPv6 host in brackets. \${NAME} is an environment variable.`)
    .meta({ examples: ["127.0.0.1:15010", "[::1]:15010"] });
}

/** The path of a file or folder. */
export function path(what: string): z.ZodString {
  return text(`${what} Relative to the folder of --config. \${NAME} is an environment variable.`);
}

/** In which wave someone gets a change. */
export function wave(): z.ZodOptional<z.ZodInt> {
  const range = "must be a number from 1 to 1000";
  return z.int().min(1, range).max(1000, range)
    .meta({
      description:
        "In which wave it gets a change; 1 is the first. Without effect in this version.",
      default: DEFAULTS.wave,
    })
    .optional();
}

/** Rules and patterns that a list may hold: each peer is held against all of them. */
const MOST_RULES = 1000;

/** A list of rules or patterns, of which there may not be too many. */
export function rules<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item).max(MOST_RULES, `must hold at most ${MOST_RULES} items`);
}

/** Patterns of namespaces. A list that is written must name some. */
export function namespacePatterns(description: string): z.ZodOptional<z.ZodArray<z.ZodString>> {
  const pattern = z.string().regex(
    /^[a-z0-9*](?:[-a-z0-9*]{0,61}[a-z0-9*])?$/,
    "must be the name of a namespace, in which * stands for any text",
  ).meta({ examples: ["shop", "team-*"] });
  const empty = "must not be empty; leave it out for every namespace, or name those that are meant";
  return rules(pattern).min(1, empty).describe(description).optional();
}

const COLLECTIONS = KINDS.map(({ collection }) => collection);

const collectionName = z.string().superRefine((name, context) => {
  if (COLLECTIONS.includes(name)) return;
  const meant = nearestCollection(name);
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(name.slice(0, 80))} is no collection that Pinnace knows`,
    params: {
      rule: "config/value",
      hint: meant === undefined ? `known: ${COLLECTIONS.join(", ")}` : `did you mean ${meant}?`,
    },
  });
}).meta({ enum: COLLECTIONS });

/** Names of MCP collections, each once. */
export function collections(description: string): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return rules(collectionName).superRefine((names, context) => {
    const places = new Map<string, number>();
    names.forEach((name, index) => {
      const first = places.get(name);
      if (first === undefined) {
        places.set(name, index);
        return;
      }
      const message = `repeats item ${first + 1}; leave one of them out`;
      context.addIssue({ code: "custom", path: [index], message });
    });
  }).meta({ description, default: [], uniqueItems: true }).optional();
}

/** People also know a collection by its last part or by the kind in it. */
function nearestCollection(name: string): string | undefined {
  const whole = nearest(name, COLLECTIONS);
  if (whole !== undefined) return whole;
  const byShortName = new Map(
    KINDS.flatMap(({ kind, collection }) => [
      [kind, collection] as const,
      [collection.split("/").at(-1)!, collection] as const,
    ]),
  );
  const short = nearest(name.split("/").at(-1)!, byShortName.keys());
  return short === undefined ? undefined : byShortName.get(short);
}
