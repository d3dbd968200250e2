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

/**
 * What the inboxes of many streams may hold together. Where it is too much, the fullest is given up,
 * which is nobody's who waits for answers: those hold one message a collection.
 */
export class InboxRoom {
  readonly #most: number;
  readonly #inboxes = new Set<Inbox>();
  #bytes = 0;

  /** `most`: bytes, of all inboxes together. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An inbox in here. `givenUp` is called at most once, and then it is closed. */
  open(limits: InboxLimits, givenUp: () => void): Inbox {
    const inbox: Inbox = new Inbox(limits, {
      changed: (by) => {
        this.#bytes += by;
        if (inbox.bytes === 0) this.#inboxes.delete(inbox);
        else this.#inboxes.add(inbox);
        if (by <= 0 || this.#bytes <= this.#most) return;
        const fullest = this.#fullest();
        fullest.close();
        fullest.giveUp();
      },
      givenUp,
    });
    return inbox;
  }

  #fullest(): Inbox {
    let fullest: Inbox | undefined;
    for (const one of this.#inboxes) {
      if (!one.closed && one.bytes > (fullest?.bytes ?? 0)) fullest = one;
    }
    return fullest!;
  }
}

/** Told of an inbox. */
interface InboxHooks {
  readonly changed: (by: number) => void;
  readonly givenUp: () => void;
}

const NO_HOOKS: InboxHooks = { changed: () => {}, givenUp: () => {} };

/** A bounded queue with one reader, who works on each message before taking the next. */
export class Inbox {
  readonly #limits: InboxLimits;
  readonly #hooks: InboxHooks;
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #count = 0;
  #closed = false;
  #arrived: (() => void) | undefined;

  constructor(limits: InboxLimits, hooks: InboxHooks = NO_HOOKS) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  /** Bytes of the messages in it, the one that is worked on included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it takes nothing any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Tells whoever opened it that there is no room for it. */
  giveUp(): void {
    this.#hooks.givenUp();
  }

  /** Puts a message in; false if it is full. */
  put(message: Uint8Array): boolean {
    const { messages, bytes } = this.#limits;
    if (this.#closed) return true;
    if (this.#count >= messages) return false;
    if (this.#count > 0 && this.#bytes + message.length > bytes) return false;
    this.#count++;
    this.#waiting.push(message);
    this.#hold(message.length);
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
      this.#hold(-length);
    }
  }

  /** Drops what waits, and ends {@link each}. */
  close(): void {
    this.#closed = true;
    const dropped = this.#waiting.splice(0);
    this.#hold(-dropped.reduce((sum, { length }) => sum + length, 0));
    this.#arrived?.();
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#hooks.changed(bytes);
  }
}
