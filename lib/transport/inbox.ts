/**
 * Messages that wait to be worked on one after the other, bounded in number and bytes.
 *
 * @module
 */

/** Bounds of an inbox. */
export interface InboxLimits {
  /** Messages, the one that is worked on included. */
  readonly messages: number;
  /** Bytes of these together. A single message may be larger. */
  readonly bytes: number;
}

/** A bounded queue with one reader, who works on each message before taking the next. */
export class Inbox {
  readonly #limits: InboxLimits;
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #count = 0;
  #closed = false;
  #arrived: (() => void) | undefined;

  constructor(limits: InboxLimits) {
    this.#limits = limits;
  }

  /** Puts a message in; false if it is full. */
  put(message: Uint8Array): boolean {
    const { messages, bytes } = this.#limits;
    if (this.#closed) return true;
    if (this.#count >= messages) return false;
    if (this.#count > 0 && this.#bytes + message.length > bytes) return false;
    this.#count++;
    this.#bytes += message.length;
    this.#waiting.push(message);
    this.#arrived?.();
    return true;
  }

  /** Works on each message in turn; resolves when the inbox is closed and that which is worked on is done. */
  async each(work: (message: Uint8Array) => Promise<void>): Promise<void> {
    while (!this.#closed) {
      const message = this.#waiting.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => this.#arrived = resolve);
        continue;
      }
      const { length } = message; // whoever works on it may give its memory away
      await work(message);
      this.#count--;
      this.#bytes -= length;
    }
  }

  /** Drops what waits, and ends {@link each}. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
    this.#arrived?.();
  }
}
