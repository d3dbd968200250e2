/** The program's worker, without the rest of the program. */
import { runWorker, type WorkerThread } from "../../lib/cli/worker.ts";

runWorker(globalThis as unknown as WorkerThread, []);
