import { styleText } from "node:util";
import { BaseHandler, type BaseHandlerOptions } from "./base_handler.ts";
import { type LevelName, LogLevels } from "./levels.ts";
import type { LogRecord } from "./record.ts";

/** What the console handler may be told. */
export interface ConsoleHandlerOptions extends BaseHandlerOptions {
  /** Default: true. */
  useColors?: boolean;
}

type Style = Parameters<typeof styleText>[0];

const STYLES = new Map<number, Style>([
  [LogLevels.INFO, "blue"],
  [LogLevels.WARN, "yellow"],
  [LogLevels.ERROR, "red"],
  [LogLevels.CRITICAL, ["bold", "red"]],
]);

/** Writes to the console, in the level's colour. */
export class ConsoleHandler extends BaseHandler {
  readonly #useColors: boolean;

  constructor(levelName: LevelName, options: ConsoleHandlerOptions = {}) {
    super(levelName, options);
    this.#useColors = options.useColors ?? true;
  }

  override format(logRecord: LogRecord): string {
    const text = super.format(logRecord);
    return this.#useColors ? this.applyColors(text, logRecord.level) : text;
  }

  /** The text in the level's colour; debug has none. */
  applyColors(msg: string, level: number): string {
    const style = STYLES.get(level);
    return style === undefined ? msg : styleText(style, msg, { validateStream: false });
  }

  override log(msg: string): void {
    // deno-lint-ignore no-console -- this handler's whole purpose
    console.log(msg);
  }
}
