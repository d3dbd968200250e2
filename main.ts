/**
 * Pinnace's entry: the command line, or, in a worker, what that is to do. One module serves both, so
 * that one file (bundled or compiled) is the whole program.
 *
 * @module
 */
import type { WorkerThread } from "./lib/cli/worker.ts";

if ("WorkerGlobalScope" in globalThis) {
  const thread = globalThis as unknown as WorkerThread;
  const early: MessageEvent[] = []; // what is posted before the worker listens would be lost
  const hold = (event: MessageEvent) => void early.push(event);
  thread.addEventListener("message", hold);
  const { workerOf } = await import("./lib/cli/worker.ts");
  const start = await workerOf(thread.name);
  thread.removeEventListener("message", hold);
  start(thread);
  for (const { data } of early) thread.dispatchEvent(new MessageEvent("message", { data }));
} else if (import.meta.main) {
  const { runCommandLine } = await import("./lib/cli/command_line.ts");
  Deno.exit(await runCommandLine(Deno.args, { workerUrl: import.meta.url }));
}
