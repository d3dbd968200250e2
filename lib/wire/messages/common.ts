/**
 * Messages of Google's packages that the others are made of.
 *
 * @module
 */

/** A 64-bit integer: a number where that is exact, else a bigint. */
export type Int64 = number | bigint;

/** A map of a message. Decoded ones have no prototype. */
export type StringMap<V = string> = Readonly<Record<string, V>>;

/** `google.protobuf.Any`. */
export interface Any {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** `google.protobuf.Timestamp`. */
export interface Timestamp {
  readonly seconds: Int64;
  readonly nanos: number;
}

/** `google.protobuf.Duration`. */
export interface Duration {
  readonly seconds: Int64;
  readonly nanos: number;
}

/** `google.protobuf.UInt32Value`, `google.protobuf.BoolValue` and their like: a scalar that may be absent. */
export interface Wrapped<T> {
  readonly value: T;
}

/** A message of which we set no field, or that has none. */
export type NoSettings = Readonly<Record<never, never>>;

/** `google.protobuf.Struct`. */
export interface Struct {
  readonly fields: StringMap<Value>;
}

/** `google.protobuf.Value`: at most one of these is set. */
export interface Value {
  readonly nullValue?: "NULL_VALUE" | number;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: Struct;
  readonly listValue?: { readonly values: readonly Value[] };
}

/** `google.rpc.Status`. As `errorDetail` of a request it is a NACK, whatever its code. */
export interface Status {
  /** A gRPC status code. */
  readonly code: number;
  readonly message: string;
  readonly details: readonly Any[];
}
