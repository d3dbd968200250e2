/**
 * The client's side of one call, as streams write to it.
 *
 * @module
 */
import type * as grpc from "@grpc/grpc-js";
import type { Wire } from "./piece_stream.ts";
import type { EndStatus } from "./push_stream.ts";

/** How long a channel may take to close in order. Milliseconds. */
export const CLOSING = 500;

/** What a wire asks of its call. */
export interface CallEnds {
  over(): boolean;
  /** Calls back when the connection has room. */
  whenRoom(callback: () => void): void;
  /** Closes everything, after so many milliseconds. */
  shut(after: number): void;
}

/** Writes to a call of an unframed client. */
export class ClientWire implements Wire {
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #ends: CallEnds;

  constructor(call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>, ends: CallEnds) {
    this.#call = call;
    this.#ends = ends;
  }

  get writable(): boolean {
    return !this.#ends.over();
  }

  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    this.#ends.whenRoom(() => {
      if (this.writable) this.#call.write(bytes, done);
    });
  }

  receive(request: (bytes: Uint8Array) => void): void {
    this.#call.on("data", request);
  }

  /** A client has no status to give: an orderly end closes its side, anything else cancels. */
  end(status: EndStatus | undefined): void {
    if (status === undefined) this.#call.end();
    this.#ends.shut(status === undefined ? CLOSING : 0);
  }

  breaksOff(status: EndStatus | undefined): boolean {
    return status !== undefined;
  }

  cut(): void {
    this.#ends.shut(0);
  }
}
