/**
 * A worker that watches, as the program's does.
 *
 * @module
 */
import { startWatching, type WatchScope } from "../../../lib/config/watch_thread.ts";

startWatching(globalThis as unknown as WatchScope);
