/**
 * The program as a worker: loads the configuration, or judges what other sources push, off the main
 * thread. Whoever starts a worker asks it for the one or the other.
 *
 * @module
 */
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
  for (const { data } of early) thread.dispatchEvent(new MessageEvent("message", { data }));
}
