/**
 * Decides who writes when. All streams share a budget of bytes on their way; whoever has something to
 * say gets a turn after those who waited before; and a message is made only when it will be written,
 * so that a slow peer gets the newest state and not a queue of old ones.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { Message } from "../wire/compose.ts";
import type { PushStream } from "./push_stream.ts";

/** How a sender is made. Times in milliseconds. */
export interface SenderOptions {
  /** Only differences count. */
  readonly now: () => number;
  /**
   * Bytes that may be on their way to all peers together. A write starts while there are fewer, so
   * they are exceeded by at most one message; a larger one goes when nothing else is. Default 64 MiB.
   */
  readonly budget?: number;
  /** A peer that takes no piece for so long in the middle of a write is cut. Default 60 s. */
  readonly cutAfter?: number;
  /** A write that takes longer no longer counts against the budget: a slow peer holds up nobody else. Default 1 s. */
  readonly patience?: number;
  /** Calls `look` every so many milliseconds until disposed. Default: the system's timer. */
  readonly every?: (ms: number, look: () => void) => Disposable;
}

/** Told how the writes of one stream fare. Must not throw. */
export interface SendHooks {
  /** A message was taken whole. Bytes. */
  onSent?(bytes: number): void;
  /** The stream was cut. */
  onCut?(reason: string): void;
}

/** A stream's place with the sender. Disposing it takes no more from the stream; a write that has begun goes on. */
export interface Attachment extends Disposable {
  /** There may be something to send. */
  wake(): void;
}

/** How often writes under way are looked at. Milliseconds. */
const LOOK_EVERY = 1000;

/** Writes begun in one turn of the event loop, so that a push to thousands does not hold up everything else. */
const WRITES_A_TURN = 64;

/** What a slow peer's write is charged, since it will not be taken soon. Bytes. */
const SLOW_CHARGE = 65_536;

/** The sender of a process. Disposing it stops it; streams are left as they are. */
export class Sender implements Disposable {
  readonly #now: () => number;
  readonly #budget: number;
  readonly #cutAfter: number;
  readonly #patience: number;
  readonly #waiting = new Set<Place>(); // in the order of their turns
  readonly #writing = new Set<Place>();
  readonly #every: (ms: number, look: () => void) => Disposable;
  #inFlight = 0;
  #progressedAt: number;
  #scheduled = false;
  #stopped = false;
  #looking: Disposable | undefined; // while anything is written

  constructor(options: SenderOptions) {
    this.#now = options.now;
    this.#progressedAt = options.now();
    this.#budget = options.budget ?? 64 * 1024 * 1024;
    this.#cutAfter = options.cutAfter ?? 60_000;
    this.#patience = options.patience ?? 1000;
    this.#every = options.every ?? everySystem;
  }

  /** Whether a stream waits for its turn, and when a write last began, got on or ended; milliseconds of the clock. */
  get state(): { readonly waiting: boolean; readonly progressedAt: number } {
    return { waiting: this.#waiting.size > 0, progressedAt: this.#progressedAt };
  }

  /** Bytes on their way that count against the budget. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Gives a stream a place. `next` is called when what it returns will be written at once. */
  attach(stream: PushStream, next: () => Message | undefined, hooks: SendHooks = {}): Attachment {
    const place = new Place(stream, next, hooks);
    return {
      wake: () => this.#wake(place),
      [Symbol.dispose]: () => {
        place.gone = true;
        this.#waiting.delete(place);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#waiting.clear();
    this.#stopLooking();
  }

  #wake(place: Place): void {
    if (place.gone || this.#stopped || place.stream.signal.aborted) return;
    if (place.write !== undefined) return; // it is asked again when that is written
    if (this.#waiting.size === 0) this.#progressedAt = this.#now(); // nothing waited until now
    this.#waiting.add(place);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    let begun = 0;
    for (const place of this.#waiting) {
      if (this.#inFlight >= this.#budget) return; // goes on when bytes are taken
      if (begun === WRITES_A_TURN) return this.#schedule();
      this.#waiting.delete(place);
      if (place.gone || place.stream.signal.aborted) continue;
      const message = this.#ask(place);
      if (message === undefined) continue;
      begun++;
      this.#begin(place, message);
    }
  }

  /** What goes wrong in making a message ends one stream, not the process. */
  #ask(place: Place): Message | undefined {
    try {
      return place.next();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      place.stream.end({ code: "INTERNAL", message: `no response could be made: ${why}` });
      return undefined;
    }
  }

  #begin(place: Place, message: Message): void {
    const now = this.#progressedAt = this.#now();
    const charge = place.slow ? Math.min(message.length, SLOW_CHARGE) : message.length;
    const write: Write = { charge, began: now, progressed: now, late: false };
    place.write = write;
    this.#inFlight += charge;
    this.#writing.add(place);
    this.#looking ??= this.#every(LOOK_EVERY, () => this.#look());
    place.stream.write(message, (bytes) => {
      write.progressed = this.#progressedAt = this.#now();
      this.#release(write, bytes);
    }).then(
      () => {
        place.slow = write.late;
        this.#settle(place, write);
        place.hooks.onSent?.(message.length);
        this.#wake(place); // it may have more; its turn comes after the others'
      },
      () => this.#settle(place, write), // the stream is over, which its owner hears from the stream
    );
  }

  #settle(place: Place, write: Write): void {
    if (place.write !== write) return;
    place.write = undefined;
    this.#writing.delete(place);
    this.#release(write, write.charge);
    if (this.#writing.size === 0) this.#stopLooking();
  }

  #stopLooking(): void {
    this.#looking?.[Symbol.dispose]();
    this.#looking = undefined;
  }

  #release(write: Write, bytes: number): void {
    const released = Math.min(write.charge, bytes);
    write.charge -= released;
    this.#inFlight -= released;
    if (!this.#stopped && this.#inFlight < this.#budget) this.#schedule();
  }

  #look(): void {
    const now = this.#now();
    for (const place of [...this.#writing]) {
      const write = place.write!;
      if (now - write.progressed >= this.#cutAfter) this.#cut(place, write);
      else if (now - write.began >= this.#patience) {
        write.late = true;
        this.#release(write, write.charge);
      }
    }
  }

  #cut(place: Place, write: Write): void {
    const reason = `it took nothing for ${this.#cutAfter / 1000} s`;
    this.#settle(place, write);
    place.hooks.onCut?.(reason);
    place.stream.cut(reason);
  }
}

function everySystem(ms: number, look: () => void): Disposable {
  const timer = setInterval(look, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A write under way. */
interface Write {
  /** What it still counts for against the budget. Bytes. */
  charge: number;
  readonly began: number;
  progressed: number;
  late: boolean;
}

/** A stream, and what is to be sent on it. */
class Place {
  readonly stream: PushStream;
  readonly next: () => Message | undefined;
  readonly hooks: SendHooks;
  write: Write | undefined;
  slow = false;
  gone = false;

  constructor(stream: PushStream, next: () => Message | undefined, hooks: SendHooks) {
    this.stream = stream;
    this.next = next;
    this.hooks = hooks;
  }
}
