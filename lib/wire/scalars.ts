/**
 * Scalars and enums between our objects and protobufjs: what may be written, and what reading gives.
 *
 * 64-bit integers are numbers where a number holds them exactly, else bigints; both may be written.
 * Enums are their names; a value that this release has no name for stays a number.
 *
 * @module
 */
import type protobuf from "protobufjs";
import { WireError } from "./wire_error.ts";

/** Turns a value into what protobufjs writes, and what protobufjs read into a value. */
export interface Converter {
  /** Throws {@link WireError} for a value that does not fit, without saying where. */
  readonly toWire: (value: unknown) => unknown;
  /** undefined: what was read is the value already. */
  readonly fromWire?: (value: unknown) => unknown;
}

/** What protobufjs reads of a 64-bit integer (a Long), and takes to write one. */
interface Words {
  readonly low: number;
  readonly high: number;
}

/** The converter of a scalar type of protobuf. */
export function scalarConverter(type: string): Converter {
  const converter = SCALARS.get(type);
  if (converter === undefined) throw new WireError(`${type} is no scalar type of protobuf`);
  return converter;
}

/** The converter of an enum. */
export function enumConverter(type: protobuf.Enum): Converter {
  const values = new Map(Object.entries(type.values));
  const names = new Map([...values].map(([name, value]) => [value, name]));
  return {
    toWire: (value) => {
      if (typeof value !== "string") return int32(value);
      const number = values.get(value);
      if (number === undefined) throw mismatch(`one of ${[...values.keys()].join(", ")}`, value);
      return number;
    },
    fromWire: (value) => names.get(value as number) ?? value,
  };
}

/** An error that says what would have been right. */
export function mismatch(expected: string, value: unknown): WireError {
  return new WireError(`expected ${expected}, got ${describe(value)}`);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  return `a value of type ${typeof value}`;
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function integer(low: number, high: number): (value: unknown) => number {
  return (value) => {
    if (Number.isInteger(value) && (value as number) >= low && (value as number) <= high) {
      return value as number;
    }
    throw mismatch(`an integer from ${low} to ${high}`, value);
  };
}

const int32 = integer(-(2 ** 31), 2 ** 31 - 1);
const uint32 = integer(0, 2 ** 32 - 1);

function int64(low: bigint, high: bigint, signed: boolean): Converter {
  return {
    toWire: (value) => {
      if (typeof value === "bigint" || Number.isSafeInteger(value)) {
        const big = BigInt(value as bigint | number);
        if (big >= low && big <= high) {
          const [l, h] = [BigInt.asIntN(32, big), BigInt.asIntN(32, big >> 32n)];
          return { low: Number(l), high: Number(h) } satisfies Words;
        }
      }
      throw mismatch(`an integer from ${low} to ${high}, a bigint beyond 2^53`, value);
    },
    fromWire: (value) => {
      if (typeof value === "number") return value;
      const { low: l, high: h } = value as Words;
      const number = (signed ? h | 0 : h >>> 0) * 2 ** 32 + (l >>> 0);
      if (Number.isSafeInteger(number)) return number;
      const big = (BigInt(h >>> 0) << 32n) | BigInt(l >>> 0);
      return signed ? BigInt.asIntN(64, big) : big;
    },
  };
}

const signed64 = int64(-(2n ** 63n), 2n ** 63n - 1n, true);
const unsigned64 = int64(0n, 2n ** 64n - 1n, false);

/** Any number, NaN and the infinities too. */
const float: Converter = {
  toWire: (value) => {
    if (typeof value !== "number") throw mismatch("a number", value);
    return value;
  },
};

const SCALARS: ReadonlyMap<string, Converter> = new Map<string, Converter>([
  ["int32", { toWire: int32 }],
  ["sint32", { toWire: int32 }],
  ["sfixed32", { toWire: int32 }],
  ["uint32", { toWire: uint32 }],
  ["fixed32", { toWire: uint32 }],
  ["int64", signed64],
  ["sint64", signed64],
  ["sfixed64", signed64],
  ["uint64", unsigned64],
  ["fixed64", unsigned64],
  ["float", float],
  ["double", float],
  ["bool", {
    toWire: (value) => {
      if (typeof value !== "boolean") throw mismatch("true or false", value);
      return value;
    },
  }],
  ["string", {
    toWire: (value) => {
      if (typeof value !== "string") throw mismatch("a string", value);
      // A lone surrogate has no UTF-8; a peer would refuse the whole message.
      if (!value.isWellFormed()) throw mismatch("well-formed Unicode", value);
      return value;
    },
  }],
  ["bytes", {
    toWire: (value) => {
      if (!(value instanceof Uint8Array)) throw mismatch("a Uint8Array", value);
      return value;
    },
  }],
]);
