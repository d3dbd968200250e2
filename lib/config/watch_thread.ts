/**
 * The worker's side of watching: takes folders, tells what happens in them.
 *
 * @module
 */
import type { WatchReply, WatchRequest } from "./watch_messages.ts";

/** What is used of a worker's global scope. */
export interface WatchScope {
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  postMessage(message: WatchReply, transfer: Transferable[]): void;
}

/** Events that come within this time are told as one. Milliseconds. */
const GATHER = 5;

/** Paths of one message; where there were more, it says none: somewhere. */
const MAX_PATHS = 1000;

/**
 * Answers the {@link WatchRequest}s that come to this worker's scope, for ever; other messages are
 * somebody else's. To be called once, at the start of a worker, which is ended from outside.
 */
export function startWatching(scope: WatchScope): void {
  scope.addEventListener("message", ({ data }: MessageEvent<{ readonly kind: string }>) => {
    const request = data as WatchRequest;
    if (request.kind === "watch") void watch(scope, request.paths);
    else if (request.kind === "ping") scope.postMessage({ kind: "pong" }, []);
  });
}

async function watch(scope: WatchScope, folders: readonly string[]): Promise<void> {
  const told = new Gathered((paths) => scope.postMessage({ kind: "event", paths }, []));
  try {
    const events = Deno.watchFs([...folders], { recursive: false });
    scope.postMessage({ kind: "watching" }, []);
    for await (const { paths } of events) told.add(paths);
    scope.postMessage({ kind: "failed", message: "events have ended" }, []);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: "failed", message }, []);
  }
}

/** A folder in which very much happens must not flood the main thread. */
class Gathered {
  readonly #paths = new Set<string>();
  readonly #tell: (paths: readonly string[]) => void;
  #isWaiting = false;
  #isSomewhere = false;

  constructor(tell: (paths: readonly string[]) => void) {
    this.#tell = tell;
  }

  add(paths: readonly string[]): void {
    if (paths.length === 0) this.#isSomewhere = true; // so events were lost
    for (const path of paths) if (!this.#isSomewhere) this.#paths.add(path);
    if (this.#paths.size > MAX_PATHS) this.#isSomewhere = true;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => this.#flush(), GATHER);
  }

  #flush(): void {
    const paths = this.#isSomewhere ? [] : [...this.#paths];
    this.#isWaiting = this.#isSomewhere = false;
    this.#paths.clear();
    this.#tell(paths);
  }
}
