/**
 * Looking names up for the whole process. The system's look-up cannot be called off and takes a thread
 * of the few that files and listening need too: so only a few run at once, and names that hang leave
 * room for those that answer.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "../rollout/clock.ts";
import { systemClock } from "../rollout/clock.ts";

/**
 * How many look-ups may run, the new one included, for one of a name that answered last time, of a name
 * not known yet, of a name that hung last time or whose neighbours do. The runtime has 32 threads for
 * all that blocks.
 */
const MOST = { answered: 8, unknown: 6, hung: 4 } as const;

/** The kinds of names, in the order in which they come. */
const ORDER = ["answered", "unknown", "hung"] as const;

/** A look-up that takes longer hangs. Milliseconds. */
const HANGS_AFTER = 2000;

/** Of so many names, and of so many domains, it is known how they went. */
const MOST_KNOWN = 4096;

/** How a name went last time. */
type Past = keyof typeof MOST;

/** A look-up that waits for its turn, or runs. */
interface LookUp {
  readonly host: string;
  readonly found: PromiseWithResolvers<readonly string[]>;
}

/** Looks names up, a few at a time. Of each name there is at most one look-up, whoever asks. */
export class SharedLookUps {
  readonly #resolve: (host: string) => Promise<readonly string[]>;
  readonly #clock: Pick<Clock, "now">;
  readonly #past = new Map<string, Past>();
  /** Domains in which a name hung, and none answered since. */
  readonly #silent = new Map<string, true>();
  readonly #asked = new Map<string, LookUp>();
  readonly #waiting = new Set<LookUp>();
  #running = 0;

  /** `resolve` looks one name up and may hang. */
  constructor(resolve: (host: string) => Promise<readonly string[]>, clock: Pick<Clock, "now">) {
    this.#resolve = resolve;
    this.#clock = clock;
  }

  /**
   * The addresses behind a name, or the IP address itself. Rejects where there are none; may take as
   * long as the system does, and as it takes until it is this name's turn.
   */
  find(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const asked = this.#asked.get(host);
    if (asked !== undefined) return asked.found.promise;
    const lookUp = { host, found: Promise.withResolvers<readonly string[]>() };
    this.#asked.set(host, lookUp);
    this.#waiting.add(lookUp);
    this.#startNext();
    return lookUp.found.promise;
  }

  #startNext(): void {
    for (const past of ORDER) {
      for (const lookUp of this.#waiting) {
        if (this.#running >= MOST[past]) return; // those that come after may do no more
        if (this.#pastOf(lookUp.host) !== past) continue;
        this.#waiting.delete(lookUp);
        void this.#run(lookUp);
      }
    }
  }

  #pastOf(host: string): Past {
    return this.#past.get(host) ?? (this.#silent.has(domainOf(host)) ? "hung" : "unknown");
  }

  async #run({ host, found }: LookUp): Promise<void> {
    const began = this.#clock.now();
    this.#running++;
    try {
      found.resolve(await this.#resolve(host));
    } catch (error) {
      found.reject(error);
    }
    this.#running--;
    this.#asked.delete(host);
    this.#remember(host, this.#clock.now() - began > HANGS_AFTER ? "hung" : "answered");
    this.#startNext();
  }

  #remember(host: string, past: Past): void {
    remember(this.#past, host, past);
    if (past === "answered") this.#silent.delete(domainOf(host));
    else remember(this.#silent, domainOf(host), true);
  }
}

/** What a name is in; a name without a dot is in a domain of its own. */
function domainOf(host: string): string {
  return host.slice(host.indexOf(".") + 1);
}

/** Puts it last; the first is forgotten where there are too many. */
function remember<T>(known: Map<string, T>, key: string, value: T): void {
  known.delete(key);
  known.set(key, value);
  if (known.size <= MOST_KNOWN) return;
  const [oldest] = known.keys();
  known.delete(oldest!);
}

/** The look-ups of this process, with the system's resolver: the threads they take are the process's. */
export const systemLookUps: SharedLookUps = new SharedLookUps(
  async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  systemClock,
);
