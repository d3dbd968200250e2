/**
 * Which clients a question is about: node matchers (`envoy.type.matcher.v3`), made ready once and asked
 * of each node. Regular expressions are RE2's, whose time is bounded by the length of the text.
 *
 * @module
 */
import { RE2JS } from "re2js";
import { readRe2 } from "../model/re2_syntax.ts";
import type {
  NodeMatcher,
  StringMatcher,
  Struct,
  StructMatcher,
  Value,
  ValueMatcher,
} from "../wire/messages.ts";
import type { BriefNode } from "./brief_node.ts";

/** Asked of a node. */
export type NodeTest = (node: BriefNode) => boolean;

/** A matcher cannot be used; the message says which and why. */
export class NodeMatcherError extends Error {
  override readonly name = "NodeMatcherError";
}

/** Node matchers of one question. */
const MOST_MATCHERS = 100;

/** The longest regular expression. Characters. */
const LONGEST_REGEX = 1000;

/** The largest program (instructions of RE2, about) that an expression may become, and those of a question together. */
const LARGEST_REGEX = 1000;
const LARGEST_TOGETHER = 4000;

/** What expressions of a question may still take. */
interface Budget {
  left: number;
}

type Test<T> = (value: T) => boolean;

/**
 * Makes the test of a list of matchers: any of them must fit; an empty list fits every node. Texts and
 * metadata are tested as far as {@link BriefNode} has them. Throws {@link NodeMatcherError}.
 */
export function nodeTest(matchers: readonly NodeMatcher[]): NodeTest {
  if (matchers.length > MOST_MATCHERS) {
    throw new NodeMatcherError(
      `${matchers.length} node_matchers; at most ${MOST_MATCHERS} are taken`,
    );
  }
  const budget = { left: LARGEST_TOGETHER };
  const tests = matchers.map((matcher, at) => oneNodeTest(matcher, `node_matchers[${at}]`, budget));
  return (node) => tests.length === 0 || tests.some((test) => test(node));
}

function oneNodeTest(
  { nodeId, nodeMetadatas }: NodeMatcher,
  where: string,
  budget: Budget,
): NodeTest {
  const id = nodeId === undefined ? () => true : textTest(nodeId, `${where}.node_id`, budget);
  const metadatas = nodeMetadatas.map((one, at) =>
    structTest(one, `${where}.node_metadatas[${at}]`, budget)
  );
  return (node) => id(node.id) && metadatas.every((test) => test(node.metadata));
}

function structTest(
  { path, value }: StructMatcher,
  where: string,
  budget: Budget,
): Test<Struct | undefined> {
  const keys = path.map(({ key }, at) => {
    if (key === undefined) throw new NodeMatcherError(`${where}.path[${at}] has no key`);
    return key;
  });
  if (keys.length === 0) throw new NodeMatcherError(`${where} has no path`);
  if (value === undefined) throw new NodeMatcherError(`${where} has no value`);
  const test = valueTest(value, `${where}.value`, budget);
  return (struct) => test(valueAt(struct, keys));
}

function valueAt(struct: Struct | undefined, path: readonly string[]): Value | undefined {
  let value: Value | undefined;
  let within = struct;
  for (const key of path) {
    const fields = within?.fields ?? {};
    value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    within = value?.structValue;
  }
  return value;
}

/** A value that is not there fits no matcher, as in Envoy. */
function valueTest(matcher: ValueMatcher, where: string, budget: Budget): Test<Value | undefined> {
  const { doubleMatch, stringMatch, boolMatch, presentMatch, listMatch, orMatch } = matcher;
  if (stringMatch !== undefined) {
    const test = textTest(stringMatch, `${where}.string_match`, budget);
    return (value) => value?.stringValue !== undefined && test(value.stringValue);
  }
  if (boolMatch !== undefined) return (value) => value?.boolValue === boolMatch;
  if (presentMatch !== undefined) return (value) => presentMatch && value !== undefined;
  if (matcher.nullMatch !== undefined) return (value) => value?.nullValue !== undefined;
  if (doubleMatch !== undefined) {
    const { range, exact } = doubleMatch;
    return ({ numberValue: n } = {}) =>
      n !== undefined && (range === undefined ? n === exact : n >= range.start && n < range.end);
  }
  if (listMatch?.oneOf !== undefined) {
    const test = valueTest(listMatch.oneOf, `${where}.list_match.one_of`, budget);
    return (value) => value?.listValue?.values.some(test) === true;
  }
  if (orMatch !== undefined) {
    const tests = orMatch.valueMatchers.map((one, at) =>
      valueTest(one, `${where}.or_match.value_matchers[${at}]`, budget)
    );
    return (value) => tests.some((test) => test(value));
  }
  throw new NodeMatcherError(`${where} says nothing that is known here`);
}

function textTest(matcher: StringMatcher, where: string, budget: Budget): Test<string> {
  const { exact, prefix, suffix, contains, safeRegex, ignoreCase } = matcher;
  if (safeRegex !== undefined) return regexTest(safeRegex.regex, `${where}.safe_regex`, budget);
  const fold = (text: string) => ignoreCase ? text.toLowerCase() : text;
  const test = (pattern: string, fits: (text: string, pattern: string) => boolean) => {
    const folded = fold(pattern);
    return (text: string) => fits(fold(text), folded);
  };
  if (exact !== undefined) return test(exact, (text, pattern) => text === pattern);
  if (prefix !== undefined) return test(prefix, (text, pattern) => text.startsWith(pattern));
  if (suffix !== undefined) return test(suffix, (text, pattern) => text.endsWith(pattern));
  if (contains !== undefined) return test(contains, (text, pattern) => text.includes(pattern));
  throw new NodeMatcherError(`${where} says nothing that is known here`);
}

function regexTest(regex: string, where: string, budget: Budget): Test<string> {
  if (regex.length > LONGEST_REGEX) {
    throw new NodeMatcherError(`${where} is longer than ${LONGEST_REGEX} characters`);
  }
  // Read first: it is compiling what is repeated that costs time and memory.
  const size = readRe2(regex)?.size;
  if (size === undefined) {
    throw new NodeMatcherError(`${where} is no expression in the syntax that every RE2 takes`);
  }
  if (size > LARGEST_REGEX) {
    throw new NodeMatcherError(`${where} is too large: at most ${LARGEST_REGEX} instructions`);
  }
  budget.left -= size;
  if (budget.left < 0) {
    throw new NodeMatcherError(
      `${where}: all expressions together are too large: at most ${LARGEST_TOGETHER} instructions`,
    );
  }
  try {
    const compiled = RE2JS.compile(regex);
    return (text) => compiled.matches(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NodeMatcherError(`${where}: ${why}`);
  }
}
