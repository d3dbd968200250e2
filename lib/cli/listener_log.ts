/**
 * What the log says of connections that were turned away or ended for breaking the rules.
 *
 * @module
 */
import { type Log, Throttle } from "../log.ts";
import type { ListenerHooks } from "../transport/listener.ts";

/** Of each client and reason there is one line in this time. Milliseconds. */
const QUIET = 10_000;

/** Lines of one address in this time: one may stand for many clients, and one client may call itself many things. */
const PER_ADDRESS = 5;

/** Lines of one reason in this time. */
const PER_REASON = 50;

/** Clients that are told apart. */
const KEYS = 10_000;

/** Characters of a detail by which clients are told apart: it may hold all that a certificate does. */
const TELLING = 300;

/**
 * What the log says of them: each client gets a line of its own, so that none hides another, up to a
 * bound beyond which their number is said. `now`: milliseconds, only differences count.
 */
export function logListeners(
  log: Log,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): ListenerHooks {
  const logger = log.logger("listener");
  const each = new Throttle({ period: QUIET, keys: KEYS, now });
  const others = new Throttle({ period: QUIET, now });
  const budget = new Budget(now);
  const say = (what: string, reason: string, address: string, detail?: string) =>
    each.run(JSON.stringify([what, reason, address, detail?.slice(0, TELLING)]), (unsaid) => {
      const more = (count: number) => count > 0 ? { unsaid: count } : {};
      const fits = budget.take(`${reason} ${address}`, PER_ADDRESS) &&
        budget.take(reason, PER_REASON);
      if (fits) logger.warn(what, { reason, peer: address, detail, ...more(unsaid) });
      else {
        others.run(`${what} ${reason}`, (unsaid) => {
          logger.warn(`${what}: too many to name each`, { reason, ...more(unsaid) });
        });
      }
    });
  return {
    refused: (reason, address, detail) => {
      if (reason !== "deadline") say("connection refused", reason, address, detail);
    },
    violation: ({ reason, detail }, address) => {
      // Whoever is not speaking HTTP/2 is a probe more often than not.
      if (reason === "preface") logger.debug("not HTTP/2", { peer: address });
      else say("connection ended: its peer broke the rules of HTTP/2", reason, address, detail);
    },
  };
}

/** How much may be said of each in a period. */
class Budget {
  readonly #taken = new Map<string, number>();
  readonly #now: () => number;
  #since = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether there is some left of so much. */
  take(key: string, of: number): boolean {
    if (this.#now() - this.#since >= QUIET) {
      this.#taken.clear();
      this.#since = this.#now();
    }
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= of || this.#taken.size >= KEYS) return false;
    this.#taken.set(key, taken + 1);
    return true;
  }
}
