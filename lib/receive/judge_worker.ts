/**
 * The main thread's side of judging: asks a worker, and replaces one that fails or hangs.
 *
 * @module
 */
import { judge } from "./judge.ts";
import { type JudgeReply, type JudgeRequest, unpackJudgement } from "./judge_messages.ts";
import type { Judge, Judgement, JudgeOptions } from "./received.ts";
import { Turns } from "./turns.ts";

/** How pushes are judged. */
export interface JudgeWorkerOptions {
  /** Makes a worker that runs `startJudging`. Called when there is something to judge. */
  readonly createWorker: () => Worker;
  /** A worker that takes longer than this for an answer is replaced. Milliseconds; default 60 s. */
  readonly deadline?: number;
  /** A push up to this size is judged on the calling thread. Bytes; default {@link SMALL_PUSH}. */
  readonly small?: number;
}

/**
 * Size of a push that is judged where it came in. Bytes. Some 25 ServiceEntries: on a busy machine of
 * two cores they took 3 ms here, and 5 ms by way of the worker (10 took 1 and 1.6 ms, 100 took 8 both
 * ways); a larger push would be felt by whoever else waits for this thread.
 */
export const SMALL_PUSH = 4 * 1024;

const DEADLINE = 60_000;

/** We failed to judge: it says nothing about the push. The push is to be refused for now (UNAVAILABLE), and may be sent again. */
export class JudgeError extends Error {
  override readonly name = "JudgeError";
}

/** A push that waits for the worker. */
interface Asked {
  readonly bytes: Uint8Array;
  readonly options: JudgeOptions;
  /** Aborted when nobody waits for the answer any more. */
  readonly over: AbortSignal;
  readonly resolve: (judgement: Judgement) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Judges in a worker, one push at a time. Whoever sends much does not hold up those who send little:
 * small pushes do not wait at all, and of others the next is whose turn it is by its size and by what its
 * source has waiting besides. How many may wait is up to who asks: each holds its push.
 */
export class JudgeWorker implements AsyncDisposable {
  readonly #options: Required<JudgeWorkerOptions>;
  readonly #closed = new AbortController();
  readonly #turns = new Turns<Asked>();
  #worker: Worker | undefined;
  #lastId = 0;
  #busy = false;

  constructor(options: JudgeWorkerOptions) {
    this.#options = { deadline: DEADLINE, small: SMALL_PUSH, ...options };
  }

  /** How many pushes the worker has before it, the one that it works on included. */
  get waiting(): number {
    return this.#turns.size + (this.#busy ? 1 : 0);
  }

  /**
   * Judges a push. `bytes` must not change until then; they stay the caller's. Throws
   * {@link JudgeError} where the worker failed or was too slow; the signal's reason; an AbortError once
   * this is disposed.
   */
  readonly judge: Judge = async (bytes, options, signal) => {
    const over = AbortSignal.any([this.#closed.signal, signal]);
    over.throwIfAborted();
    if (bytes.length <= this.#options.small) return judgeHere(bytes, options);
    const { promise, resolve, reject } = Promise.withResolvers<Judgement>();
    const asked = { bytes, options, over, resolve, reject };
    const giveUp = () => {
      this.#turns.delete(asked);
      reject(over.reason);
    };
    over.addEventListener("abort", giveUp, { once: true });
    this.#turns.add(asked, bytes.length, options.queue);
    this.#next();
    return await promise.finally(() => over.removeEventListener("abort", giveUp));
  };

  /** Ends the worker; whoever waits gets an AbortError. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new DOMException("judging has ended", "AbortError"));
    this.#terminate();
    return Promise.resolve();
  }

  #next(): void {
    if (this.#busy) return;
    const asked = this.#turns.take();
    if (asked === undefined) return;
    this.#busy = true;
    // A worker cannot be stopped in the middle: whoever gave up has it all the same until it is done.
    this.#ask(asked).then(asked.resolve, asked.reject).finally(() => {
      this.#busy = false;
      this.#next();
    });
  }

  #ask({ bytes, options }: Asked): Promise<Judgement> {
    const worker = this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Judgement>();
    const ended = new AbortController();
    const until = { signal: ended.signal };
    const { deadline } = this.#options;
    const fail = (message: string) => {
      if (this.#worker === worker) this.#terminate();
      reject(new JudgeError(`the push could not be judged: ${message}`));
    };
    const timer = setTimeout(() => fail(`no answer within ${deadline / 1000} s`), deadline);
    this.#closed.signal.addEventListener("abort", () => reject(this.#closed.signal.reason), until);
    worker.addEventListener("message", ({ data }: MessageEvent<JudgeReply>) => {
      if (data.id !== id) return;
      if (data.kind === "failed") fail(data.message);
      else resolve(unpackJudgement(data.judgement));
    }, until);
    worker.addEventListener("error", (event) => {
      event.preventDefault(); // else it would end this process
      fail(event.message);
    }, until);
    worker.addEventListener("messageerror", () => fail("its answer cannot be read"), until);
    // A copy: what is transferred is gone here, and the push may be part of a larger buffer.
    const copy = bytes.slice();
    const request: JudgeRequest = { kind: "judge", id, bytes: copy, options };
    worker.postMessage(request, [copy.buffer]);
    return promise.finally(() => {
      clearTimeout(timer);
      ended.abort();
    });
  }

  #start(): Worker {
    const worker = this.#options.createWorker();
    // Between pushes: whoever asks next starts another.
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#worker === worker) this.#terminate();
    });
    return worker;
  }

  #terminate(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function judgeHere(bytes: Uint8Array, options: JudgeOptions): Judgement {
  try {
    return judge(bytes, options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new JudgeError(`the push could not be judged: ${reason}`, { cause });
  }
}
