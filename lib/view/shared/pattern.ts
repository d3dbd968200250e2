/**
 * Regular expressions as clients of RE2 take them: gRPC programs and Envoy.
 *
 * @module
 */
import { RE2JS } from "re2js";
import { readRe2 } from "../../model/re2_syntax.ts";

/**
 * The largest program (instructions of RE2) that gRPC programs are given. All expressions of a grpc-js
 * program share 16 MiB, of which one of this size takes about half a megabyte.
 */
const LARGEST = 2000;

/**
 * The largest program that Envoy takes unless its runtime says otherwise
 * (`re2.max_program_size.error_level`).
 */
const LARGEST_IN_ENVOY = 100;

/** A method is a word: an expression for more is no use, and is compiled here. */
const LARGEST_FITTED = 1000;

/**
 * The expression in RE2's syntax, so that every client takes it; undefined where it is none, or too
 * large. One that a client cannot compile would cost more than its route: grpc-go and grpc-java refuse
 * the whole RouteConfiguration, and grpc-js throws within the program.
 */
export function re2Pattern(text: string): string | undefined {
  const plain = takenPattern(text, LARGEST);
  // grpc-js-xds puts the expression between `^` and `$` as it is.
  return plain?.includes("|") ? `(?:${plain})` : plain;
}

/**
 * The expression as a stock Envoy takes it; undefined where it would not, or would read it otherwise:
 * its RE2 knows bytes, no letters beyond ASCII, and its programs are bounded.
 */
export function envoyPattern(text: string): string | undefined {
  return takenPattern(text, LARGEST_IN_ENVOY, "bytes");
}

/** Whether the whole text fits an expression that {@link re2Pattern} gave; one that is too large for that fits nothing. */
export function fitsPattern(text: string, pattern: string): boolean {
  const plain = takenPattern(pattern, LARGEST_FITTED);
  return plain !== undefined && RE2JS.compile(plain).matches(text);
}

/** The expression without the names of its groups. Neither time nor memory depend on how often it repeats something. */
function takenPattern(text: string, largest: number, letters?: "bytes"): string | undefined {
  const read = readRe2(text);
  if (read === undefined || read.size > largest || (letters === "bytes" && read.wide)) {
    return undefined;
  }
  try {
    RE2JS.compile(read.bare);
  } catch {
    return undefined;
  }
  return read.text;
}
