/**
 * The program as a worker, off the main thread. What it is to do is the worker's name; only that is
 * loaded, since a worker costs memory by what it loads.
 *
 * @module
 */

/** A worker's global scope, as far as it is used. */
export interface WorkerThread {
  /** What the worker is to do. */
  readonly name: string;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  postMessage(message: unknown, transfer: Transferable[]): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  dispatchEvent(event: MessageEvent): boolean;
}

/** What workers do: load the configuration, judge what other sources push, watch folders. */
export type WorkerRole = "load" | "judge" | "watch";

/** Gives what starts to answer the messages of a role. Throws TypeError for a name that is none. */
export async function workerOf(role: string): Promise<(thread: WorkerThread) => void> {
  switch (role as WorkerRole) {
    case "load": {
      const [{ startWorker }, { serviceEntryConverter }] = await Promise.all([
        import("../config/worker.ts"),
        import("./converter.ts"),
      ]);
      return (thread) => startWorker(thread, { converter: serviceEntryConverter });
    }
    case "judge":
      return (await import("../receive/judge_thread.ts")).startJudging;
    case "watch":
      return (await import("../config/watch_thread.ts")).startWatching;
  }
  throw new TypeError(`no worker is named ${role}`);
}
