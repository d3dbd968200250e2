/**
 * What server and dial-out streams have in common: one write at a time, in pieces; requests held back
 * until someone wants them; one end.
 *
 * @module
 */
import type { Message } from "../wire/compose.ts";
import { grpcWrites } from "./pieces.ts";
import {
  type EndStatus,
  type Peer,
  type Progress,
  type PushStream,
  StreamOverError,
} from "./push_stream.ts";

/** The gRPC call below a stream. */
export interface Wire {
  /** Whether bytes can still be written. */
  readonly writable: boolean;
  /** Writes bytes of gRPC frames; `done` is called when the transport took them, or never once it is closed. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  /** Starts to deliver requests. */
  receive(request: (bytes: Uint8Array) => void): void;
  /** Ends the call in order. */
  end(status: EndStatus | undefined): void;
  /** Whether ending with this status breaks off what is being written, rather than let it finish. */
  breaksOff(status: EndStatus | undefined): boolean;
  /** Ends the call at once. */
  cut(): void;
}

/** What is known of a stream when it opens. */
export interface StreamFacts {
  readonly path: string;
  readonly peer: Peer;
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
}

interface Write {
  readonly pieces: Iterator<Uint8Array>;
  readonly taken: ((bytes: number) => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A stream that writes in pieces. Whoever owns its {@link Wire} tells it when that is closed. */
export class PieceStream implements PushStream {
  readonly path: string;
  readonly peer: Peer;
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  readonly #wire: Wire;
  readonly #now: () => number;
  readonly #abort = new AbortController();
  #write: Write | undefined;
  #end: { readonly status: EndStatus | undefined } | undefined;
  #closed = false;
  #failure: string | undefined;
  #taken = 0;
  #at: number;

  constructor(wire: Wire, facts: StreamFacts) {
    this.#wire = wire;
    this.path = facts.path;
    this.peer = facts.peer;
    this.metadata = facts.metadata;
    this.#now = facts.now;
    this.#at = facts.now();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  get progress(): Progress {
    return { taken: this.#taken, at: this.#at };
  }

  onRequest(callback: (bytes: Uint8Array) => void): void {
    this.#wire.receive((bytes) => {
      if (this.signal.aborted) return;
      try {
        callback(bytes);
      } catch (error) { // ends one stream, not the process
        const why = error instanceof Error ? error.message : String(error);
        this.end({ code: "INTERNAL", message: `the request could not be handled: ${why}` });
      }
    });
  }

  write(message: Message, taken?: (bytes: number) => void): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.#overError());
    if (this.#write !== undefined) {
      return Promise.reject(new TypeError("the write before this one is unfinished"));
    }
    return new Promise((resolve, reject) => {
      this.#write = { pieces: grpcWrites(message), taken, resolve, reject };
      this.#at = this.#now();
      this.#step(this.#write);
    });
  }

  end(status?: EndStatus): void {
    if (this.#end !== undefined || this.#closed) return;
    this.#end = { status };
    this.#leave(status?.message);
    if (this.#write === undefined || this.#wire.breaksOff(status)) this.#wire.end(status);
  }

  cut(reason: string): void {
    if (this.#closed) return;
    this.#failure ??= reason;
    this.#wire.cut();
    this.closed();
  }

  /** The wire is closed; `failure` says why, unless the peer simply left. */
  closed(failure?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leave(failure);
    const write = this.#write;
    this.#write = undefined;
    write?.reject(this.#overError());
  }

  #leave(failure: string | undefined): void {
    if (failure !== undefined) this.#failure ??= failure;
    this.#abort.abort();
  }

  #overError(): StreamOverError {
    return new StreamOverError(`the stream is over: ${this.#failure ?? "the peer left"}`);
  }

  #step(write: Write): void {
    const next = write.pieces.next();
    if (next.done === true) return this.#finish(write);
    if (!this.#wire.writable) return this.closed();
    this.#wire.write(next.value, (error) => {
      if (this.#write !== write) return;
      if (error) return this.closed(); // it says no more than that the stream is closed
      this.#taken += next.value.length;
      this.#at = this.#now();
      write.taken?.(next.value.length);
      if (this.#write === write) this.#step(write);
    });
  }

  #finish(write: Write): void {
    this.#write = undefined;
    write.resolve();
    if (this.#end !== undefined) this.#wire.end(this.#end.status);
  }
}
