/**
 * Settings that take effect only at a start, and what a person is told who changes one of them.
 *
 * @module
 */
import type { Logger } from "../log.ts";
import type { Settings } from "../model/settings.ts";

/** What the program is built with and cannot change while it runs. */
const FROZEN = {
  instance: ({ instance }: Settings) => instance,
  listen: ({ listen }: Settings) => listen,
  receive: ({ receive }: Settings) => receive,
  admin: ({ admin }: Settings) => admin,
  "limits.message": ({ limits }: Settings) => limits.message,
} as const;

type Values = ReadonlyMap<string, string>;

/** Remembers what is in effect; says of each change that waits for a start, once. */
export class RestartNeeds {
  readonly #logger: Logger;
  #inEffect: Values | undefined;
  #waiting: Values | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** These are in effect from now on. */
  applied(settings: Settings): void {
    this.#inEffect = this.#waiting = valuesOf(settings);
  }

  /** These are configured now. */
  configured(settings: Settings): void {
    const before = this.#waiting;
    const now = this.#waiting = valuesOf(settings);
    for (const [key, value] of now) {
      if (value === before?.get(key)) continue;
      if (value === this.#inEffect?.get(key)) {
        this.#logger.info(`\`${key}\` is as it was at the start; no restart is needed for it`);
      } else this.#logger.warn(`a change of \`${key}\` takes effect at the next start`);
    }
  }
}

function valuesOf(settings: Settings): Values {
  return new Map(
    Object.entries(FROZEN).map(([key, of]) => [key, JSON.stringify(of(settings) ?? null)]),
  );
}
