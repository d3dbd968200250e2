import {
  configureSync,
  getConfig,
  getLogger as getEngineLogger,
  type Logger as EngineLogger,
  type LogLevel as EngineLevel,
  type LogRecord as EngineRecord,
} from "@logtape/logtape";
import type { BaseHandler } from "./base_handler.ts";
import { LogLevels } from "./levels.ts";
import type { LogRecord } from "./record.ts";

/** The part of LogTape's configuration that is ours: a category, and the sink behind it. */
const OURS = "std/log";

const LEVELS: Readonly<Record<number, EngineLevel>> = {
  [LogLevels.NOTSET]: "trace",
  [LogLevels.DEBUG]: "debug",
  [LogLevels.INFO]: "info",
  [LogLevels.WARN]: "warning",
  [LogLevels.ERROR]: "error",
  [LogLevels.CRITICAL]: "fatal",
};

/** What travels through LogTape with each record, by reference. */
interface Parcel {
  readonly record: LogRecord;
  readonly handlers: readonly BaseHandler[];
  /** What a handler threw; LogTape would swallow it. */
  failure?: { readonly error: unknown };
}

/** The LogTape logger that carries the records of the logger of this name. */
export function engineLogger(name: string): EngineLogger {
  return getEngineLogger([OURS, name]);
}

/**
 * Sends a record through LogTape to the handlers.
 *
 * @throws whatever a handler threw
 */
export function dispatch(
  logger: EngineLogger,
  record: LogRecord,
  handlers: readonly BaseHandler[],
): void {
  connect();
  const parcel: Parcel = { record, handlers };
  // `emit` takes the text as it is; the named methods would look for placeholders in it.
  logger.emit({
    level: LEVELS[record.level] ?? "info",
    message: [record.msg],
    rawMessage: record.msg,
    timestamp: record.datetime.getTime(),
    properties: { parcel },
  });
  if (parcel.failure) throw parcel.failure.error;
}

function deliver(record: EngineRecord): void {
  const parcel = record.properties.parcel as Parcel;
  try {
    for (const handler of parcel.handlers) handler.handle(parcel.record);
  } catch (error) {
    parcel.failure = { error };
  }
}

/**
 * Puts our category into LogTape's configuration, beside what the program may have configured there
 * itself. Looked at again with each record, because anyone may configure LogTape anew.
 */
function connect(): void {
  const config = getConfig();
  if (config !== null && Object.hasOwn(config.sinks, OURS)) return;
  const loggers = config?.loggers ??
    [{ category: ["logtape", "meta"], lowestLevel: "error" }];
  configureSync<string, string>({
    ...config,
    reset: config !== null,
    sinks: { ...config?.sinks, [OURS]: deliver },
    loggers: [
      ...loggers,
      {
        category: [OURS],
        sinks: [OURS],
        parentSinks: "override",
        lowestLevel: "trace",
      },
    ],
  });
}
