/**
 * Where log lines go when nobody says otherwise: a stream, written behind the program's back, since a
 * reader that stalls must never stall the program.
 *
 * @module
 */

/** Takes one line, without its line end. Must not throw. */
export type LogSink = (line: string) => void;

/** The part of `Deno.stderr` that is needed. */
export interface ByteWriter {
  write(bytes: Uint8Array): Promise<number>;
}

/** Bounds of a stream sink. */
export interface StreamSinkOptions {
  /** Lines wait up to this size in all; further ones are dropped and counted. Default 1 MiB. */
  readonly buffer?: number;
}

/** Bytes written at once. */
const BATCH = 64 * 1024;

/** Writes lines to a stream in order, without ever waiting for it. */
export class StreamSink implements AsyncDisposable {
  readonly #writer: ByteWriter;
  readonly #buffer: number;
  readonly #encoder = new TextEncoder();
  #lines: Uint8Array[] = [];
  #waiting = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;

  constructor(writer: ByteWriter, options: StreamSinkOptions = {}) {
    this.#writer = writer;
    this.#buffer = options.buffer ?? 1024 * 1024;
  }

  /** Takes one line. */
  readonly write: LogSink = (line) => {
    const bytes = this.#encoder.encode(`${line}\n`);
    if (this.#waiting + bytes.length > this.#buffer) {
      this.#dropped++;
      return;
    }
    this.#push(bytes);
    this.#writing ??= this.#drain();
  };

  /** Waits until all lines are written, at most this long. Milliseconds. */
  async flush(deadline: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, deadline));
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
  }

  /** Waits a second for the last lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush(1_000);
  }

  #push(bytes: Uint8Array): void {
    this.#lines.push(bytes);
    this.#waiting += bytes.length;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // lines said in one go are written in one go
    while (this.#lines.length > 0) {
      const batch = this.#take();
      try {
        await this.#writeAll(batch);
      } catch {
        // Nobody reads any more, and there is nowhere left to say so: what waits is lost.
        this.#lines = [];
        this.#waiting = 0;
        break;
      }
      this.#waiting -= batch.length;
      if (this.#dropped > 0 && this.#lines.length === 0) {
        this.#push(this.#encoder.encode(`… ${this.#dropped} log lines dropped: reader too slow\n`));
        this.#dropped = 0;
      }
    }
    this.#writing = undefined;
  }

  /** The next lines, joined. They count as waiting until written. */
  #take(): Uint8Array {
    let size = 0;
    let count = 0;
    while (count < this.#lines.length && (count === 0 || size < BATCH)) {
      size += this.#lines[count++]!.length;
    }
    const batch = new Uint8Array(size);
    let at = 0;
    for (const line of this.#lines.splice(0, count)) {
      batch.set(line, at);
      at += line.length;
    }
    return batch;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#writer.write(bytes.subarray(at));
  }
}
