/**
 * The building blocks of the configuration's schema: mappings that know which keys they take, and
 * texts of a certain form. Every message here is written for the person who made the mistake.
 *
 * @module
 */
import { z } from "zod";
import { nearest } from "./nearest.ts";
import { DURATION_PATTERN, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

/** What a custom issue carries besides its message. */
export interface IssueDetail {
  readonly rule?: string;
  readonly hint?: string;
}

/** Keys that a mapping does not take, and why. */
export interface MappingOptions {
  /** Keys that belong to a later version. */
  readonly later?: readonly string[];
  /** Keys that belong elsewhere, each with what to do instead. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Mappings around or within this one, by what they are called: a key may be meant for one of them. */
  readonly neighbours?: () => Readonly<Record<string, z.ZodObject>>;
}

/** A mapping with exactly these keys. Any other is an error of its own, with the key's path. */
export function mapping<Shape extends z.ZodRawShape>(
  shape: Shape,
  options: MappingOptions = {},
): z.ZodObject<Shape, z.core.$strip> {
  const known = Object.keys(shape);
  const later = new Set(options.later);
  const schema = z.looseObject(shape).superRefine((value, context) => {
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(shape, key)) continue;
      context.addIssue({ code: "custom", path: [key], ...unknownKey(key, known, later, options) });
    }
  }, { when: ({ value }) => isMapping(value) }); // also where other keys are wrong: all mistakes at once
  // Loose only so that the check above sees every key; whoever reads the value sees the known ones.
  return schema as unknown as z.ZodObject<Shape, z.core.$strip>;
}

/** Whether a value is a mapping (not a list, not null). */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownKey(
  key: string,
  known: readonly string[],
  later: ReadonlySet<string>,
  options: MappingOptions,
): { message: string; params: IssueDetail } {
  if (later.has(key)) {
    return {
      message: `\`${key}\` is not supported yet by this version`,
      params: { rule: "config/not-supported-yet", hint: "take it out" },
    };
  }
  const elsewhere = options.elsewhere;
  if (elsewhere !== undefined && Object.hasOwn(elsewhere, key)) {
    return {
      message: `\`${key}\` does not belong here`,
      params: { rule: "config/unknown-key", hint: elsewhere[key]! },
    };
  }
  const meant = nearest(key, [...known, ...later]);
  return {
    message: `unknown key \`${key}\``,
    params: {
      rule: "config/unknown-key",
      hint: meant !== undefined
        ? `did you mean \`${meant}\`?`
        : hintOfNeighbour(key, options) ?? `known here: ${known.join(", ")}`,
    },
  };
}

function hintOfNeighbour(key: string, { neighbours }: MappingOptions): string | undefined {
  const others = Object.entries(neighbours?.() ?? {});
  const [found] = others.find(([, { shape }]) => Object.hasOwn(shape, key)) ?? [];
  return found === undefined ? undefined : `\`${key}\` belongs to ${found}`;
}

/** A text that is not empty. */
export function text(description: string): z.ZodString {
  return z.string().min(1, "must not be empty").describe(description);
}

/** A duration in Go's form, between two bounds; `initial` is its default, where it has one. */
export function duration(
  description: string,
  initial: string | undefined,
  bounds: { readonly min: string; readonly max: string },
): z.ZodString {
  const [min, max] = [parseDuration(bounds.min)!, parseDuration(bounds.max)!];
  return z.string()
    .regex(DURATION_PATTERN, "is no duration; write a number and a unit, as in 100ms, 5s or 1m30s")
    .refine((value) => {
      const ms = parseDuration(value);
      return ms === undefined || (ms >= min && ms <= max);
    }, `must be from ${bounds.min} to ${bounds.max}`)
    .meta({
      description: `${description} From ${bounds.min} to ${bounds.max}.`,
      ...(initial === undefined ? {} : { default: initial }),
    });
}

/** A size, between two bounds. */
export function size(
  description: string,
  initial: string,
  bounds: { readonly min: string; readonly max: string },
): z.ZodString {
  const [min, max] = [parseSize(bounds.min)!, parseSize(bounds.max)!];
  return z.string()
    .regex(SIZE_PATTERN, "is no size; write a number and a unit, as in 512KiB or 32MiB")
    .refine((value) => {
      const bytes = parseSize(value);
      return bytes === undefined || (bytes >= min && bytes <= max);
    }, `must be from ${bounds.min} to ${bounds.max}`)
    .meta({ description: `${description} From ${bounds.min} to ${bounds.max}.`, default: initial });
}

/** A mapping from text to text. */
export function texts(description: string): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string()).describe(description);
}

/** A port number. */
export function portNumber(description: string): z.ZodNumber {
  return z.int().min(1, PORT_RANGE).max(65535, PORT_RANGE).describe(description);
}

const PORT_RANGE = "must be a port number from 1 to 65535";
