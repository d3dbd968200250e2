import type { Logger as EngineLogger } from "@logtape/logtape";
import type { BaseHandler } from "./base_handler.ts";
import { dispatch, engineLogger } from "./engine.ts";
import {
  getLevelByName,
  getLevelName,
  type LevelName,
  type LogLevel,
  LogLevels,
} from "./levels.ts";
import { LogRecord } from "./record.ts";

/** Any function. */
// deno-lint-ignore no-explicit-any -- whatever it takes and gives
export type GenericFunction = (...args: any[]) => any;

/** What a logger may be told. */
export interface LoggerOptions {
  /** Where records go. */
  handlers?: BaseHandler[];
}

/** A message: a value, or a function that makes it and is called only if it will be written. */
type Message<T> = (T extends GenericFunction ? never : T) | (() => T);

/**
 * Says things under a name. Each method gives back the message it was handed; for a function, what
 * it returned, or undefined where it wasn't called.
 */
export class Logger {
  /** Where records go. */
  handlers: BaseHandler[];
  readonly #name: string;
  readonly #engine: EngineLogger;
  #level: LogLevel;

  constructor(
    loggerName: string,
    levelName: LevelName,
    options: LoggerOptions = {},
  ) {
    this.#name = loggerName;
    this.#level = getLevelByName(levelName);
    this.#engine = engineLogger(loggerName);
    this.handlers = options.handlers ?? [];
  }

  /** Records below are not made. */
  get level(): LogLevel {
    return this.#level;
  }

  set level(level: LogLevel) {
    try {
      getLevelName(level);
    } catch (cause) {
      throw new TypeError(`no level has the number ${level}`, { cause });
    }
    this.#level = level;
  }

  /** The same, by name. */
  get levelName(): LevelName {
    return getLevelName(this.#level);
  }

  set levelName(levelName: LevelName) {
    this.#level = getLevelByName(levelName);
  }

  /** The name that each record bears. */
  get loggerName(): string {
    return this.#name;
  }

  /** How a message that is no text is written. */
  asString(data: unknown, isProperty = false): string {
    if (typeof data === "string") return isProperty ? `"${data}"` : data;
    if (typeof data === "function") return "undefined";
    if (typeof data !== "object" || data === null) return String(data);
    if (data instanceof Error) {
      return data.stack ?? `${data.name}: ${data.message}`;
    }
    const entries = Object.entries(data).map(([key, value]) =>
      `"${key}":${this.asString(value, true)}`
    );
    return `{${entries.join(",")}}`;
  }

  /** Says it with level DEBUG. */
  debug<T>(msg: () => T, ...args: unknown[]): T | undefined;
  debug<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  debug<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#say(LogLevels.DEBUG, msg, args);
  }

  /** Says it with level INFO. */
  info<T>(msg: () => T, ...args: unknown[]): T | undefined;
  info<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  info<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#say(LogLevels.INFO, msg, args);
  }

  /** Says it with level WARN. */
  warn<T>(msg: () => T, ...args: unknown[]): T | undefined;
  warn<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  warn<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#say(LogLevels.WARN, msg, args);
  }

  /** Says it with level ERROR. */
  error<T>(msg: () => T, ...args: unknown[]): T | undefined;
  error<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  error<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#say(LogLevels.ERROR, msg, args);
  }

  /** Says it with level CRITICAL. */
  critical<T>(msg: () => T, ...args: unknown[]): T | undefined;
  critical<T>(
    msg: T extends GenericFunction ? never : T,
    ...args: unknown[]
  ): T;
  critical<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#say(LogLevels.CRITICAL, msg, args);
  }

  #say<T>(level: LogLevel, msg: Message<T>, args: unknown[]): T | undefined {
    if (level < this.#level) return msg instanceof Function ? undefined : msg;
    const value: T | undefined = msg instanceof Function ? msg() : msg;
    const record = new LogRecord({
      msg: this.asString(value),
      args,
      level,
      loggerName: this.#name,
    });
    dispatch(this.#engine, record, this.handlers);
    return value;
  }
}
