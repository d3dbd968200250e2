import { getLevelByName, getLevelName, type LevelName, type LogLevel } from "./levels.ts";
import type { LogRecord } from "./record.ts";

/** Turns a record into the text that is written. */
export type FormatterFunction = (logRecord: LogRecord) => string;

/** What a handler may be told. */
export interface BaseHandlerOptions {
  /** Default: the level's name and the message. */
  formatter?: FormatterFunction;
}

/** Formats records of its level and above, and writes them where its subclass says. */
export abstract class BaseHandler {
  #level: LogLevel;
  /** Turns a record into the text that is written. */
  formatter: FormatterFunction;

  constructor(levelName: LevelName, options: BaseHandlerOptions = {}) {
    this.#level = getLevelByName(levelName);
    this.formatter = options.formatter ??
      (({ levelName, msg }) => `${levelName} ${msg}`);
  }

  /** Records below are left out. */
  get level(): LogLevel {
    return this.#level;
  }

  set level(level: LogLevel) {
    getLevelName(level); // refuses what is no level
    this.#level = level;
  }

  /** The same, by name. */
  get levelName(): LevelName {
    return getLevelName(this.#level);
  }

  set levelName(name: LevelName) {
    this.#level = getLevelByName(name);
  }

  /** Writes the record, unless it is below the level. */
  handle(logRecord: LogRecord): void {
    if (logRecord.level >= this.#level) this.log(this.format(logRecord));
  }

  /** The text for a record. */
  format(logRecord: LogRecord): string {
    return this.formatter(logRecord);
  }

  /** Writes a text. */
  abstract log(msg: string): void;

  /** Called when the handler is taken into use by `setup`. */
  setup(): void {}

  /** Called when the handler is no longer used. */
  destroy(): void {}

  [Symbol.dispose](): void {
    this.destroy();
  }
}
