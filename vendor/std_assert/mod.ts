/**
 * The assertions that the tests use, under the names, signatures and meanings of `@std/assert` 1.0,
 * made on Node's `util`. The published package fits in its place.
 *
 * @module
 */
export { AssertionError } from "./assertion_error.ts";
export {
  type AnyConstructor,
  assert,
  assertExists,
  assertFalse,
  assertInstanceOf,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
  fail,
  type Falsy,
  type GetConstructorType,
  unimplemented,
  unreachable,
} from "./basic.ts";
export { equal } from "./equal.ts";
export {
  assertEquals,
  assertNotEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "./equals.ts";
export { assertIsError, assertRejects, assertThrows } from "./errors.ts";
export { type ArrayLikeArg, assertArrayIncludes, assertObjectMatch } from "./includes.ts";
export {
  assertAlmostEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
} from "./numbers.ts";
