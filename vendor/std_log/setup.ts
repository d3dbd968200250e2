import type { BaseHandler } from "./base_handler.ts";
import { ConsoleHandler } from "./console_handler.ts";
import type { LevelName } from "./levels.ts";
import { Logger } from "./logger.ts";

/** How one logger is set up. */
export interface LoggerConfig {
  /** Default: INFO. */
  level?: LevelName;
  /** Names of the handlers it writes to. */
  handlers?: string[];
}

/** Handlers and loggers, by name. */
export interface LogConfig {
  handlers?: { [name: string]: BaseHandler };
  loggers?: { [name: string]: LoggerConfig };
}

const handlers = new Map<string, BaseHandler>();
const loggers = new Map<string, Logger>();

/**
 * Takes these handlers and loggers into use in place of the former ones, which are destroyed. A
 * console handler and a logger, both named `default`, are there unless named here. Loggers taken
 * before keep their old handlers: take them anew.
 */
export function setup(config: LogConfig): void {
  for (const handler of handlers.values()) handler.destroy();
  handlers.clear();
  loggers.clear();
  const given = { default: new ConsoleHandler("INFO"), ...config.handlers };
  for (const [name, handler] of Object.entries(given)) {
    handler.setup();
    handlers.set(name, handler);
  }
  const wanted: Record<string, LoggerConfig> = {
    default: { level: "INFO", handlers: ["default"] },
    ...config.loggers,
  };
  for (const [name, { level, handlers: names }] of Object.entries(wanted)) {
    const mine = (names ?? []).flatMap((handler) => handlers.get(handler) ?? []);
    loggers.set(name, new Logger(name, level ?? "INFO", { handlers: mine }));
  }
}

/**
 * The logger of this name, `default` if none is given. One that was not set up is made, without
 * handlers: it says nothing.
 */
export function getLogger(name?: string): Logger {
  const key = name || "default";
  let logger = loggers.get(key);
  if (logger === undefined) {
    loggers.set(key, logger = new Logger(key, "NOTSET", { handlers: [] }));
  }
  return logger;
}

setup({});
