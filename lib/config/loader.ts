/**
 * The main thread's side of loading: asks a worker, and replaces one that fails or hangs.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type {
  LoadRequest,
  LoadResult,
  PositionsResult,
  ProbeRequest,
  ProbeResult,
  Seed,
  WorkerReply,
} from "./messages.ts";

/** How configurations are loaded. */
export interface LoaderOptions {
  /** The `--config` file or folder, absolute. */
  readonly config: string;
  /** Makes a worker that runs `startWorker`. */
  readonly createWorker: () => Worker;
  /** What is published now. Asked whenever a worker is new; broken files fall back to it. */
  readonly seed?: () => Seed | undefined;
  /** Called when the findings of the last load have got their lines and columns. */
  readonly onPositions?: (result: PositionsResult) => void;
  /** A worker that takes longer than this for an answer is replaced. Milliseconds; default 120 s. */
  readonly deadline?: number;
}

/** Options of a load. */
export interface LoadCallOptions {
  /** The result is to hold everything, not only what changed. */
  readonly full?: boolean;
  readonly signal?: AbortSignal;
}

/** After a failure of a worker, a probe asks for another load only after this long, doubled each time. Milliseconds. */
const RETRY_MIN = 10_000;
const RETRY_MAX = 600_000;

type Reply<R> = R extends LoadRequest ? LoadResult : ProbeResult;

/** Loads a configuration in a worker. Calls are answered one after the other. */
export class ConfigLoader implements AsyncDisposable {
  readonly #options: Required<Pick<LoaderOptions, "deadline">> & LoaderOptions;
  readonly #closed = new AbortController();
  #worker: Worker | undefined;
  #isNew = true;
  /** Set where a result did not arrive, so that the next has to hold everything. */
  #missed = false;
  #lastId = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #watch: readonly string[];
  #failures = 0;
  #failedAt = 0;

  constructor(options: LoaderOptions) {
    this.#options = { deadline: 120_000, ...options };
    this.#watch = [options.config];
  }

  /** How many workers failed since one last succeeded. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Loads the configuration as it is now. A worker that fails is a finding (`config/worker`) of a
   * result that is not usable; the next load gets a new worker.
   * @throws the signal's reason; an AbortError once the loader is disposed.
   */
  load({ full = false, signal }: LoadCallOptions = {}): Promise<LoadResult> {
    return this.#enqueue(async () => {
      try {
        const result = await this.#ask(this.#loadRequest(full), signal);
        this.#failures = 0;
        this.#isNew = this.#missed = false;
        this.#watch = result.watch;
        return result;
      } catch (error) {
        this.#missed = true;
        if (!(error instanceof WorkerError)) throw error;
        return this.#failed(error);
      }
    }, signal);
  }

  /**
   * Whether a load would find anything that differs from the last one; files are compared by content.
   * @throws the signal's reason; an AbortError once the loader is disposed.
   */
  probe({ signal }: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    return this.#enqueue(async () => {
      if (this.#worker === undefined || this.#missed) return this.#mayRetry();
      const request: ProbeRequest = { kind: "probe", id: ++this.#lastId };
      try {
        return (await this.#ask(request, signal)).changed;
      } catch (error) {
        if (!(error instanceof WorkerError)) throw error;
        this.#failed(error);
        return false;
      }
    }, signal);
  }

  /** Ends the worker. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new DOMException("the loader is closed", "AbortError"));
    this.#terminate();
    return Promise.resolve();
  }

  #loadRequest(full: boolean): LoadRequest {
    const seed = this.#isNew ? this.#options.seed?.() : undefined;
    return {
      kind: "load",
      id: ++this.#lastId,
      config: this.#options.config,
      full: full || this.#isNew || this.#missed,
      ...(seed === undefined ? {} : { seed }),
    };
  }

  #enqueue<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const run = this.#queue.then(() => {
      this.#closed.signal.throwIfAborted();
      signal?.throwIfAborted();
      return task();
    });
    this.#queue = run.catch(() => {}); // whoever asked hears of it; the next is asked all the same
    return run;
  }

  #ask<R extends LoadRequest | ProbeRequest>(
    request: R,
    signal: AbortSignal | undefined,
  ): Promise<Reply<R>> {
    const worker = this.#worker ??= this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<Reply<R>>();
    const ended = new AbortController();
    const until = { signal: ended.signal };
    const { deadline } = this.#options;
    const timer = setTimeout(
      () => reject(new WorkerError(`no answer within ${deadline / 1000} s`)),
      deadline,
    );
    for (
      const cause of signal === undefined ? [this.#closed.signal] : [this.#closed.signal, signal]
    ) {
      cause.addEventListener("abort", () => reject(cause.reason), until);
    }
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerReply>) => {
      if (data.id !== request.id) return;
      if (data.kind === "failed") reject(new WorkerError(data.message));
      else if (data.kind !== "positions") resolve(data as Reply<R>);
    }, until);
    worker.addEventListener("error", (event) => {
      event.preventDefault(); // else it would end this process
      reject(new WorkerError(event.message));
    }, until);
    worker.addEventListener("messageerror", () => {
      reject(new WorkerError("its answer cannot be read"));
    }, until);
    const seed = request.kind === "load" ? request.seed : undefined;
    worker.postMessage(request, seed === undefined ? [] : [seed.records.buffer as ArrayBuffer]);
    return promise.finally(() => {
      clearTimeout(timer);
      ended.abort();
    });
  }

  #start(): Worker {
    this.#isNew = true;
    const worker = this.#options.createWorker();
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerReply>) => {
      if (data.kind === "positions") this.#options.onPositions?.(data);
    });
    // Between requests: whoever asks next starts another.
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#worker === worker) this.#terminate();
    });
    return worker;
  }

  #terminate(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#isNew = true;
  }

  #failed(error: WorkerError): LoadResult {
    this.#terminate();
    this.#missed = true;
    this.#failures++;
    this.#failedAt = performance.now();
    const finding: Finding = {
      severity: "error",
      rule: "config/worker",
      message: `loading the configuration failed: ${error.message}`,
      hint: "what is published stays; loading is tried again when a file changes",
      position: { file: this.#options.config },
    };
    return {
      kind: "loaded",
      id: this.#lastId,
      ok: false,
      usable: false,
      full: false,
      findings: [finding],
      kept: [],
      changes: [],
      causes: [],
      watch: this.#watch,
      stats: { files: 0, filesParsed: 0, services: 0, parseMs: 0, totalMs: 0 },
    };
  }

  #mayRetry(): boolean {
    const wait = Math.min(RETRY_MIN * 2 ** Math.max(0, this.#failures - 1), RETRY_MAX);
    return this.#failures === 0 || performance.now() - this.#failedAt >= wait;
  }
}

/** The worker failed, not the configuration. */
class WorkerError extends Error {
  override readonly name = "WorkerError";
}
