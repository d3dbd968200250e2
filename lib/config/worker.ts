/**
 * The worker's side of loading: takes requests, answers with what changed.
 *
 * @module
 */
import type { Converter } from "./converter.ts";
import type { Environment } from "./expand.ts";
import { ConfigReader } from "./load.ts";
import type { LoadRequest, ProbeRequest, WorkerReply, WorkerRequest } from "./messages.ts";

/** What is used of a worker's global scope. */
export interface WorkerScope {
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  postMessage(message: WorkerReply, transfer: Transferable[]): void;
}

/** What the worker loads with. */
export interface WorkerOptions {
  readonly converter: Converter;
  readonly environment?: Environment;
}

/**
 * Answers loads and probes that come to this worker's scope, for ever; other messages are somebody
 * else's. To be called once, at the start of a worker.
 */
export function startWorker(scope: WorkerScope, options: WorkerOptions): void {
  const worker = new LoadWorker(scope, options);
  scope.addEventListener("message", ({ data }: MessageEvent<{ readonly kind: string }>) => {
    if (data.kind === "load") worker.answer(data as LoadRequest);
    else if (data.kind === "probe") worker.answer(data as ProbeRequest);
  });
}

class LoadWorker {
  readonly #scope: WorkerScope;
  readonly #options: WorkerOptions;
  #reader: ConfigReader | undefined;
  #latest = -1;

  constructor(scope: WorkerScope, options: WorkerOptions) {
    this.#scope = scope;
    this.#options = options;
  }

  answer(request: WorkerRequest): void {
    try {
      if (request.kind === "load") this.#load(request);
      else this.#probe(request.id);
    } catch (error) {
      const message = error instanceof Error ? error.stack ?? error.message : String(error);
      this.#scope.postMessage({ kind: "failed", id: request.id, message }, []);
    }
  }

  #load({ id, config, full, seed }: LoadRequest): void {
    this.#latest = id;
    let reader = this.#reader;
    if (reader === undefined) {
      reader = this.#reader = new ConfigReader(config, this.#options);
      if (seed !== undefined) reader.seed(seed);
    }
    const result = reader.load({ id, full });
    this.#scope.postMessage(result, result.changes.map(({ bytes }) => bytes.buffer as ArrayBuffer));
    const isPlaced = result.findings.every(({ path, position }) =>
      path === undefined || position?.line !== undefined
    );
    // In a task of its own: a request that waits already goes first and makes this one superfluous.
    if (!isPlaced) setTimeout(() => this.#locate(id), 0);
  }

  #locate(id: number): void {
    if (id !== this.#latest || this.#reader === undefined) return;
    this.#scope.postMessage({ kind: "positions", id, findings: this.#reader.locate() }, []);
  }

  #probe(id: number): void {
    const changed = this.#reader?.hasChanged() ?? true;
    this.#scope.postMessage({ kind: "probed", id, changed }, []);
  }
}
