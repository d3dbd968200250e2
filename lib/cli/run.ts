/**
 * `pinnace run`: serves the services of a configuration until told to stop.
 *
 * @module
 */
import { resolve } from "node:path";
import { AdminListenError } from "../admin/http.ts";
import { Log, StreamSink } from "../log.ts";
import type { Finding } from "../model/finding.ts";
import { openSourceStore } from "../receive/open_source_store.ts";
import type { SourceStore } from "../receive/received.ts";
import { disk } from "../snapshot/file_layer.ts";
import { resourceCount } from "../snapshot/snapshot.ts";
import { openStore } from "../snapshot/open_store.ts";
import { type SnapshotStore, StoreError } from "../snapshot/store.ts";
import { lockStore } from "../snapshot/store_lock.ts";
import { ListenError } from "../transport/listener.ts";
import { App, NothingToServeError } from "./app.ts";
import { EXIT } from "./exit.ts";
import { defaultStore } from "./store_place.ts";

/** Options of {@link run}. */
export interface RunOptions {
  readonly config: string;
  readonly store?: string;
  readonly workerUrl: string;
}

/** Until a configuration says otherwise. */
const FIRST_LOG = { level: "info", format: "text" } as const;

/** Runs until SIGTERM or SIGINT; gives the exit code. SIGHUP loads the configuration again. */
export async function run(options: RunOptions): Promise<number> {
  await using sink = new StreamSink(Deno.stderr);
  const colours = Deno.stderr.isTerminal() && !Deno.noColor;
  const log = new Log({ ...FIRST_LOG, sink: sink.write, colours });
  try {
    await runUntilTold({ ...options, config: resolve(options.config) }, log);
    return EXIT.ok;
  } catch (error) {
    if (!isExpected(error)) throw error;
    log.logger("pinnace").error(error.message);
    return EXIT.failure;
  }
}

async function runUntilTold(options: RunOptions, log: Log): Promise<void> {
  // First of all: a runtime that is out of files when it first wants a signal panics.
  const running: { app?: App } = {};
  using signals = new Signals(() => void running.app?.reload());
  const { config } = options;
  await using stores = await openStores(resolve(options.store ?? defaultStore(config)), log);
  const { snapshots: store, sources } = stores;
  await using app = new App({ ...options, store, sources, log });
  running.app = app;
  const started = app.start();
  const signal = await Promise.race([signals.stop, started]);
  if (signal === undefined) announce(app, store, log);
  else started.catch(() => {}); // it is cut short
  log.logger("pinnace").info("stopping", { signal: await signals.stop });
}

/** What there was before, and what the program keeps. */
interface Stores extends AsyncDisposable {
  readonly snapshots: SnapshotStore;
  readonly sources: SourceStore;
}

async function openStores(place: string, log: Log): Promise<Stores> {
  const logger = log.logger("pinnace");
  const onFinding = ({ message, hint }: Finding) =>
    logger.warn(message, hint === undefined ? {} : { hint });
  await using opening = new AsyncDisposableStack();
  const snapshots = opening.use(
    await openStore(place, {
      files: disk,
      lock: lockStore,
      owner: { pid: Deno.pid, host: Deno.hostname(), started: new Date().toISOString() },
      now: Date.now,
      onFinding,
    }),
  );
  if (snapshots.abandonedBy !== undefined) {
    const { pid, started } = snapshots.abandonedBy;
    logger.warn("the last run ended without stopping (killed or crashed)", { pid, started });
  }
  const { durable } = snapshots.store;
  const sources = opening.use(await openSourceStore(place, { files: disk, durable, onFinding }));
  const opened = opening.move();
  return {
    snapshots: snapshots.store,
    sources: sources.store,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Failures that are a person's to mend; their message says how. */
function isExpected(error: unknown): error is Error {
  return [NothingToServeError, ListenError, AdminListenError, StoreError].some((type) =>
    error instanceof type
  );
}

function announce(app: App, store: SnapshotStore, log: Log): void {
  const logger = log.logger("pinnace");
  const { snapshot } = app.publication!;
  const fields = { services: snapshot.services.size, resources: resourceCount(snapshot) };
  if (app.addresses.length === 0) {
    const why = snapshot.settings.listen.length === 0 ? ": `listen` names none" : " yet";
    logger.info(`no port for sinks and clients is open${why}`, fields);
  } else logger.info("serving MCP and ADS", { listen: app.addresses.join(" "), ...fields });
  if (app.receiving.length > 0) {
    logger.info("taking from sources that dial", { receive: app.receiving.join(" ") });
  }
  if (app.admin !== undefined) logger.info("status and metrics", { url: `http://${app.admin}/` });
  // That it keeps none was warned of when the store was opened.
  if (store.durable) logger.info("snapshots are kept", { store: store.place, newest: snapshot.id });
  for (const { name, address } of app.sinks) logger.info("dialling out", { sink: name, address });
  if (app.addresses.length > 0) {
    logger.info(
      "an istiod that names us needs k8s:// among its configSources to keep its cluster's own",
    );
  }
}

/** The signals a service gets. Disposing it leaves them to the system again. */
class Signals implements Disposable {
  /** Resolves with the first signal to stop. */
  readonly stop: Promise<Deno.Signal>;
  readonly #listeners: [Deno.Signal, () => void][] = [];

  /** `hangUp` is called at each SIGHUP. */
  constructor(hangUp: () => void) {
    this.stop = new Promise((resolve) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) this.#on(signal, () => resolve(signal));
    });
    this.#on("SIGHUP", hangUp);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }

  #on(signal: Deno.Signal, listener: () => void): void {
    Deno.addSignalListener(signal, listener);
    this.#listeners.push([signal, listener]);
  }
}
