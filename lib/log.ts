/**
 * The log. Whoever logs is handed a {@link Logger} or something of its shape; nobody reaches for one.
 * The calls below are those of `@std/log`, so that its handlers and any replacement fit.
 *
 * @module
 */
import {
  BaseHandler,
  type LevelName,
  Logger as StdLogger,
  LogLevels,
  type LogRecord,
} from "@std/log";
import type { LogLevel, LogSettings } from "./model/settings.ts";
import type { Fields } from "./log/fields.ts";
import { formatJson, formatText, type Line } from "./log/format.ts";
import type { LogSink } from "./log/stream_sink.ts";

export { explain, type Fields } from "./log/fields.ts";
export {
  type ByteWriter,
  type LogSink,
  StreamSink,
  type StreamSinkOptions,
} from "./log/stream_sink.ts";
export { Throttle, type ThrottleOptions } from "./log/throttle.ts";

const LEVELS: Readonly<Record<LogLevel, LevelName>> = {
  debug: "DEBUG",
  info: "INFO",
  warn: "WARN",
  error: "ERROR",
};

/** What a log is opened with. */
export interface LogOptions extends LogSettings {
  /** Where lines go. */
  readonly sink: LogSink;
  /** Whether text may be coloured: only a terminal wants that. Default false. */
  readonly colours?: boolean;
}

/** One place to which all loggers of a program write, with one level and one format. */
export class Log {
  readonly #handler: LineHandler;
  readonly #loggers = new Map<string, StdLogger>();

  constructor(options: LogOptions) {
    this.#handler = new LineHandler(options);
  }

  /** Takes a new level and format, at once and for every logger. */
  configure(settings: LogSettings): void {
    this.#handler.configure(settings);
  }

  /**
   * A logger that says its lines under this category: dotted, from the large to the small. Categories
   * are few and fixed; what varies, such as a peer, is a field.
   */
  logger(category: string, fields: Fields = {}): Logger {
    return new Logger(this, category, fields);
  }

  /** Whether lines of this level are written. */
  enabled(level: LogLevel): boolean {
    return this.#handler.enabled(level);
  }

  /** Writes a line; what loggers call. */
  write(level: LogLevel, category: string, message: string, fields: Fields): void {
    let logger = this.#loggers.get(category);
    if (logger === undefined) {
      logger = new StdLogger(category, "DEBUG", { handlers: [this.#handler] });
      this.#loggers.set(category, logger);
    }
    logger[level](message, fields);
  }
}

/** Says things under a category, with fields that each of its lines bears. */
export class Logger {
  readonly category: string;
  readonly #log: Log;
  readonly #fields: Fields;

  /** Made by {@link Log.logger}. */
  constructor(log: Log, category: string, fields: Fields) {
    this.#log = log;
    this.category = category;
    this.#fields = fields;
  }

  /** A logger for a part of this one's category, with further fields. */
  child(category: string, fields: Fields = {}): Logger {
    return new Logger(this.#log, `${this.category}.${category}`, { ...this.#fields, ...fields });
  }

  /** This logger with further fields, for example the peer that it speaks of. */
  with(fields: Fields): Logger {
    return new Logger(this.#log, this.category, { ...this.#fields, ...fields });
  }

  /** Whether lines of this level are written: asked before fields are made that cost something. */
  enabled(level: LogLevel): boolean {
    return this.#log.enabled(level);
  }

  /** What only someone looking for a fault wants to see. */
  debug(message: string, fields?: Fields): void {
    this.#say("debug", message, fields);
  }

  /** What an operator wants to know on a good day. */
  info(message: string, fields?: Fields): void {
    this.#say("info", message, fields);
  }

  /** What someone should look at, while the program goes on. */
  warn(message: string, fields?: Fields): void {
    this.#say("warn", message, fields);
  }

  /** What does not work. */
  error(message: string, fields?: Fields): void {
    this.#say("error", message, fields);
  }

  #say(level: LogLevel, message: string, fields: Fields | undefined): void {
    if (!this.#log.enabled(level)) return;
    const all = fields === undefined ? this.#fields : { ...this.#fields, ...fields };
    this.#log.write(level, this.category, message, all);
  }
}

/** Turns records into lines and hands them to the sink. */
class LineHandler extends BaseHandler {
  readonly #sink: LogSink;
  readonly #colours: boolean;
  #json = false;

  constructor(options: LogOptions) {
    super(LEVELS[options.level]);
    this.#sink = options.sink;
    this.#colours = options.colours ?? false;
    this.configure(options);
  }

  configure(settings: LogSettings): void {
    this.levelName = LEVELS[settings.level];
    this.#json = settings.format === "json";
  }

  enabled(level: LogLevel): boolean {
    return NUMBERS[level] >= this.level;
  }

  override format(record: LogRecord): string {
    const line: Line = {
      time: record.datetime,
      level: record.levelName.toLowerCase() as LogLevel,
      category: record.loggerName,
      message: record.msg,
      fields: record.args[0] as Fields,
    };
    return this.#json ? formatJson(line) : formatText(line, this.#colours);
  }

  override log(line: string): void {
    this.#sink(line);
  }
}

const NUMBERS: Readonly<Record<LogLevel, number>> = {
  debug: LogLevels.DEBUG,
  info: LogLevels.INFO,
  warn: LogLevels.WARN,
  error: LogLevels.ERROR,
};
