/**
 * Logging under the names and signatures of `@std/log` 0.224, with LogTape as the engine below. The
 * published package fits in its place: whatever uses this one must use nothing that the other lacks.
 *
 * @module
 */
export { BaseHandler, type BaseHandlerOptions, type FormatterFunction } from "./base_handler.ts";
export { ConsoleHandler, type ConsoleHandlerOptions } from "./console_handler.ts";
export { formatters, jsonFormatter } from "./formatters.ts";
export {
  getLevelByName,
  getLevelName,
  type LevelName,
  type LogLevel,
  LogLevelNames,
  LogLevels,
} from "./levels.ts";
export { type GenericFunction, Logger, type LoggerOptions } from "./logger.ts";
export type { LogRecord, LogRecordOptions } from "./record.ts";
export { getLogger, type LogConfig, type LoggerConfig, setup } from "./setup.ts";
