import { getLevelName, type LogLevel } from "./levels.ts";

/** What a record is made of. */
export interface LogRecordOptions {
  msg: string;
  args: unknown[];
  level: LogLevel;
  loggerName: string;
}

/** One thing said, with when, how loud and by whom. */
export class LogRecord {
  /** The message, already a text. */
  readonly msg: string;
  readonly level: number;
  readonly levelName: string;
  readonly loggerName: string;
  readonly #args: readonly unknown[];
  readonly #time = Date.now();

  constructor(options: LogRecordOptions) {
    this.msg = options.msg;
    this.level = options.level;
    this.levelName = getLevelName(options.level);
    this.loggerName = options.loggerName;
    this.#args = [...options.args];
  }

  /** What was handed over after the message; a copy. */
  get args(): unknown[] {
    return [...this.#args];
  }

  /** When the record was made; a copy. */
  get datetime(): Date {
    return new Date(this.#time);
  }
}
