/**
 * The program as a worker, off the main thread: loads the configuration, judges what other sources
 * push, or watches folders. Whoever starts a worker asks it for one of these.
 *
 * @module
 */
import { startWatching } from "../config/watch_thread.ts";
import { startWorker } from "../config/worker.ts";
import { startJudging } from "../receive/judge_thread.ts";
import { serviceEntryConverter } from "./converter.ts";

/** A worker's global scope, as far as it is used. */
export interface WorkerThread {
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  postMessage(message: unknown, transfer: Transferable[]): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  dispatchEvent(event: MessageEvent): boolean;
}

/** Starts to answer. `early` are the requests that came while this module was being loaded. */
export function runWorker(thread: WorkerThread, early: readonly MessageEvent[]): void {
  startWorker(thread, { converter: serviceEntryConverter });
  startJudging(thread);
  startWatching(thread);
  for (const { data } of early) thread.dispatchEvent(new MessageEvent("message", { data }));
}
