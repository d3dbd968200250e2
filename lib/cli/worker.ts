/**
 * The program as a worker: loads the configuration, off the main thread.
 *
 * @module
 */
import { startWorker, type WorkerScope } from "../config/worker.ts";
import { serviceEntryConverter } from "./converter.ts";

/** A worker's global scope, as far as it is used. */
export interface WorkerThread extends WorkerScope {
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  dispatchEvent(event: MessageEvent): boolean;
}

/** Starts to answer. `early` are the requests that came while this module was being loaded. */
export function runWorker(thread: WorkerThread, early: readonly MessageEvent[]): void {
  startWorker(thread, { converter: serviceEntryConverter });
  for (const { data } of early) thread.dispatchEvent(new MessageEvent("message", { data }));
}
