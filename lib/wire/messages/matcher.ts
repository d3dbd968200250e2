/**
 * What a text, a value, a node must be like: package `envoy.type.matcher.v3`, as far as we set or read it.
 *
 * @module
 */
import type { NoSettings } from "./common.ts";

/** `envoy.type.matcher.v3.StringMatcher`: at most one of the patterns is set. */
export interface StringMatcher {
  readonly exact?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly safeRegex?: RegexMatcher;
  readonly contains?: string;
  readonly ignoreCase: boolean;
}

/** `envoy.type.matcher.v3.RegexMatcher`: RE2's syntax, matching the whole text. */
export interface RegexMatcher {
  readonly regex: string;
}

/** `envoy.type.matcher.v3.NodeMatcher`: all that is given must fit. */
export interface NodeMatcher {
  readonly nodeId?: StringMatcher;
  readonly nodeMetadatas: readonly StructMatcher[];
}

/** `envoy.type.matcher.v3.StructMatcher`. */
export interface StructMatcher {
  readonly path: readonly { readonly key?: string }[];
  readonly value?: ValueMatcher;
}

/** `envoy.type.matcher.v3.ValueMatcher`: at most one of these is set. */
export interface ValueMatcher {
  readonly nullMatch?: NoSettings;
  readonly doubleMatch?: DoubleMatcher;
  readonly stringMatch?: StringMatcher;
  readonly boolMatch?: boolean;
  readonly presentMatch?: boolean;
  readonly listMatch?: { readonly oneOf?: ValueMatcher };
  readonly orMatch?: { readonly valueMatchers: readonly ValueMatcher[] };
}

/** `envoy.type.matcher.v3.DoubleMatcher`: at most one of these is set. */
export interface DoubleMatcher {
  /** From `start` up to, without, `end`. */
  readonly range?: { readonly start: number; readonly end: number };
  readonly exact?: number;
}
