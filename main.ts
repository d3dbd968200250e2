/**
 * Pinnace's entry: the command line, or, in a worker, the loader of the configuration. One module
 * serves both, so that one file (bundled or compiled) is the whole program.
 *
 * @module
 */
if ("WorkerGlobalScope" in globalThis) {
  const { startWorker } = await import("./lib/config/worker.ts");
  startWorker(self as unknown as Parameters<typeof startWorker>[0]);
} else if (import.meta.main) {
  const { runCommandLine } = await import("./lib/cli/command_line.ts");
  Deno.exit(await runCommandLine(Deno.args, { workerUrl: import.meta.url }));
}
