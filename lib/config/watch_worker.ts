/**
 * Events of the file system by way of a worker. The system's own thread behind `Deno.watchFs` opens
 * what appears in a folder; a FIFO that nobody writes to holds it for ever, and whoever closes the watch
 * then waits for it. A worker that waits can be left alone.
 *
 * @module
 */
import type { FsEvents } from "./watch.ts";
import type { WatchReply, WatchRequest } from "./watch_messages.ts";

/** How workers watch. */
export interface WatchWorkerOptions {
  /** Makes a worker that runs `startWatching`. */
  readonly createWorker: () => Worker;
  /**
   * How often the worker is asked for a sign of life; without an answer until the time after the next,
   * it counts as dead. Milliseconds; default 5 s.
   */
  readonly interval?: number;
}

/** Intervals without a sign of life after which a worker is dead. */
const MISSED = 2;

/** Events that wait for whoever reads them; beyond, they become one that says: somewhere. */
const MAX_WAITING = 100;

/** What `WatcherOptions.watchFs` wants: each call is a worker of its own, which ends with `close`. */
export function watchInWorker(options: WatchWorkerOptions): (folders: string[]) => FsEvents {
  return (folders) => new WorkerEvents(folders, options);
}

interface FsEvent {
  readonly paths: readonly string[];
}

class WorkerEvents implements FsEvents {
  readonly ready: Promise<boolean>;
  readonly #worker: Worker;
  readonly #isReady: (isReady: boolean) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #waiting: FsEvent[] = [];
  #wake: () => void = () => {};
  #unanswered = 0;
  #end: { readonly error?: Error } | undefined;

  constructor(folders: string[], { createWorker, interval = 5000 }: WatchWorkerOptions) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.ready = promise;
    this.#isReady = resolve;
    const worker = this.#worker = createWorker();
    worker.addEventListener("message", ({ data }: MessageEvent<WatchReply>) => this.#take(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault(); // else it would end this process
      this.#finish(new Error(event.message));
    });
    this.#say({ kind: "watch", paths: folders });
    this.#timer = setInterval(() => this.#ask(), interval);
  }

  /** Ends the worker, whatever it waits for. */
  close(): void {
    this.#finish();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<FsEvent> {
    while (true) {
      const events = this.#waiting;
      this.#waiting = [];
      yield* events;
      if (this.#waiting.length > 0) continue;
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  #take(reply: WatchReply): void {
    if (this.#end !== undefined) return;
    this.#unanswered = 0;
    if (reply.kind === "watching") this.#isReady(true);
    else if (reply.kind === "failed") this.#finish(new Error(reply.message));
    else if (reply.kind === "event") {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ paths: reply.paths });
      else this.#waiting = [{ paths: [] }];
      this.#wake();
    }
  }

  /** An interval counts, not a time: if this thread was held up, an answer may lie there unread. */
  #ask(): void {
    if (this.#unanswered >= MISSED) {
      this.#finish(new Error("the worker that watches folders gives no sign of life"));
      return;
    }
    this.#unanswered++;
    this.#say({ kind: "ping" });
  }

  #say(request: WatchRequest): void {
    this.#worker.postMessage(request);
  }

  #finish(error?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = error === undefined ? {} : { error };
    clearInterval(this.#timer);
    this.#worker.terminate();
    this.#isReady(false);
    this.#wake();
  }
}
