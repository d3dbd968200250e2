/**
 * The IP addresses of DNS names, for clients that cannot look names up: looked up again and again, so
 * that views follow where names move.
 *
 * @module
 */
import { isIP } from "node:net";
import type { Clock } from "../rollout/clock.ts";
import type { Addresses } from "../view/served_service.ts";
import { type Backoff, backoffDelay } from "./backoff.ts";

/** What an address book works with. */
export interface AddressBookOptions {
  /** Looks one name up; rejects where it has no address. May hang. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  /** Between 0 and 1, at each call another. */
  readonly random: () => number;
  /** The addresses of these names are others than before. Called once for all that changed together; must not throw. */
  readonly onChange: (names: readonly string[]) => void;
  /** A look-up gave nothing, the first since the name was wanted or since one gave something. Must not throw. */
  readonly onFailure?: (host: string) => void;
  /**
   * Names are not {@link AddressBook.pending} any more, of which none has addresses that
   * `onChange` told of just now. Must not throw.
   */
  readonly onTried?: () => void;
  /** Names that are looked up. Default: 10,000. */
  readonly most?: number;
}

/** How a name fares. */
export interface NameStatus {
  readonly addresses?: readonly string[];
  /** Why the last look-up gave nothing; absent: it gave the addresses. */
  readonly failure?: string;
}

/** How often a name is looked up. Milliseconds; a tenth more or less. */
const EVERY = 30_000;

/** How soon a name is looked up again that was not found. */
const AFTER_FAILURE: Backoff = { first: 1000, most: EVERY };

/** Changes that come this close are told together, and names due this close are looked for together. Milliseconds. */
const TOGETHER = 250;

/** Look-ups at once: whoever else looks names up is to have a turn. */
const AT_ONCE = 8;

/** A look-up that takes longer hangs. Milliseconds. */
const HANGS_AFTER = 2000;

/** Look-ups that may hang beside those at once, so that a few names hold up no others. */
const MOST_HANGING = 64;

/** Addresses kept of one name. */
const MOST_ADDRESSES = 256;

/** A first look-up that takes longer counts as one that gave nothing, until it gives something. Milliseconds. */
const FIRST_TRY = 5000;

/** A name that is wanted. */
interface Entry {
  readonly host: string;
  /** Since when. Milliseconds of the clock. */
  readonly since: number;
  /** Whether something came of a look-up, or the first one took too long. */
  tried: boolean;
  /** When to look it up next. Milliseconds of the clock; Infinity once it waits for its turn, or is looked up. */
  due: number;
  addresses?: readonly string[];
  /** Look-ups in a row that gave nothing. */
  failures: number;
  failure?: string;
}

/**
 * Looks up the names that are wanted. A name that is not found any more keeps its last addresses: a
 * resolver that fails must not take endpoints away. Disposing it looks nothing up any more.
 */
export class AddressBook implements Addresses, AsyncDisposable {
  readonly #options: AddressBookOptions;
  readonly #entries = new Map<string, Entry>();
  /** Those that are due, in their order. */
  readonly #waiting = new Set<Entry>();
  /** Those that are being looked up, and since when. */
  readonly #looking = new Map<Entry, number>();
  /** Names whose change nobody was told of yet. */
  readonly #changed = new Set<string>();
  /** Those not tried yet. */
  readonly #pending = new Set<Entry>();
  /** Whether some were tried of which nobody was told yet. */
  #tried = false;
  readonly #over = new AbortController();
  readonly #loop: Promise<void>;
  #woken = new AbortController();

  constructor(options: AddressBookOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  get(host: string): readonly string[] | undefined {
    return this.#entries.get(host)?.addresses;
  }

  /** Whether nothing came of looking the name up so far; no longer than 5 s. */
  pending(host: string): boolean {
    return this.#entries.get(host)?.tried === false;
  }

  /** How a name fares; undefined where it is not looked up. */
  status(host: string): NameStatus | undefined {
    const entry = this.#entries.get(host);
    if (entry === undefined) return undefined;
    const { addresses, failure } = entry;
    return {
      ...(addresses === undefined ? {} : { addresses }),
      ...(failure === undefined ? {} : { failure }),
    };
  }

  /** Names of which the last look-up gave nothing, and how each fares; in the order of names. */
  failing(): (readonly [host: string, status: NameStatus])[] {
    const failing = [...this.#entries.values()].filter(({ failure }) => failure !== undefined);
    return failing.map(({ host }) => [host, this.status(host)!] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /**
   * Looks up these names from here on and forgets all others. Of more than `most` those known stay, and
   * of the others the first are taken; gives the number of names that are left out.
   */
  want(names: Iterable<string>): number {
    const { most = 10_000, clock } = this.#options;
    const wanted = new Set(names);
    for (const [host, entry] of this.#entries) if (!wanted.has(host)) this.#forget(entry);
    let leftOut = 0;
    for (const host of wanted) {
      if (this.#entries.has(host)) continue;
      if (this.#entries.size >= most) leftOut++;
      else this.#add(host, clock.now());
    }
    this.#woken.abort();
    return leftOut;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#loop;
  }

  #add(host: string, now: number): void {
    const entry = { host, since: now, tried: false, due: now, failures: 0 };
    this.#entries.set(host, entry);
    this.#pending.add(entry);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.host);
    this.#pending.delete(entry);
    this.#waiting.delete(entry);
    this.#changed.delete(entry.host);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      this.#woken = new AbortController();
      const next = this.#collect();
      this.#start();
      this.#hurry();
      this.#tell();
      const busy = this.#waiting.size + this.#looking.size > 0;
      const pause = busy ? TOGETHER : Math.max(TOGETHER, next - clock.now());
      await clock.sleep(Math.min(pause, EVERY), AbortSignal.any([signal, this.#woken.signal]));
    }
  }

  /** Waits no longer for names whose first look-up takes too long; they come in the order of time. */
  #hurry(): void {
    const until = this.#options.clock.now() - FIRST_TRY;
    for (const entry of this.#pending) {
      if (entry.since > until) return;
      this.#took(entry);
    }
  }

  /** Something came of the name. */
  #took(entry: Entry): void {
    if (entry.tried) return;
    entry.tried = true;
    this.#pending.delete(entry);
    this.#tried = true;
  }

  /** Queues the names that are due; gives the time at which the next will be. */
  #collect(): number {
    const now = this.#options.clock.now();
    const due: Entry[] = [];
    let next = Infinity;
    for (const entry of this.#entries.values()) {
      if (entry.due <= now) due.push(entry);
      else next = Math.min(next, entry.due);
    }
    for (const entry of due.sort((a, b) => a.due - b.due)) {
      entry.due = Infinity;
      this.#waiting.add(entry);
    }
    return next;
  }

  #start(): void {
    for (const entry of this.#waiting) {
      if (this.#over.signal.aborted || !this.#hasRoom()) return;
      this.#waiting.delete(entry);
      this.#looking.set(entry, this.#options.clock.now());
      void this.#lookUp(entry);
    }
  }

  #hasRoom(): boolean {
    if (this.#looking.size >= AT_ONCE + MOST_HANGING) return false;
    const hanging = this.#options.clock.now() - HANGS_AFTER;
    const young = [...this.#looking.values()].filter((began) => began > hanging);
    return young.length < AT_ONCE;
  }

  async #lookUp(entry: Entry): Promise<void> {
    let found: readonly string[] = [];
    let failure: string | undefined;
    try {
      found = usable(await this.#options.resolve(entry.host));
      if (found.length === 0) failure = "no address is behind that name";
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    this.#looking.delete(entry);
    if (this.#entries.get(entry.host) === entry) this.#settle(entry, found, failure);
    this.#start();
    if (this.#waiting.size + this.#looking.size === 0) this.#tell();
  }

  #settle(entry: Entry, found: readonly string[], failure: string | undefined): void {
    const { clock, random } = this.#options;
    this.#took(entry);
    if (failure !== undefined) {
      entry.failure = failure;
      entry.due = clock.now() + backoffDelay(++entry.failures, random(), AFTER_FAILURE);
      if (entry.failures === 1) this.#options.onFailure?.(entry.host);
      return;
    }
    delete entry.failure;
    entry.failures = 0;
    entry.due = clock.now() + EVERY * (0.9 + random() / 5);
    if (sameList(found, entry.addresses)) return;
    entry.addresses = found;
    this.#changed.add(entry.host);
  }

  /** Tells of what changed, unless nobody wants to hear any more. */
  #tell(): void {
    if (this.#over.signal.aborted) return;
    const names = [...this.#changed];
    const tried = this.#tried;
    this.#changed.clear();
    this.#tried = false;
    if (names.length > 0) this.#options.onChange(names);
    else if (tried) this.#options.onTried?.();
  }
}

/** Addresses that anyone can dial, sorted, each once; those of one link alone cannot be. */
function usable(addresses: readonly string[]): readonly string[] {
  const dialled = addresses.filter((one) => isIP(one) !== 0 && !one.includes("%"));
  return [...new Set(dialled)].sort().slice(0, MOST_ADDRESSES);
}

function sameList(a: readonly string[], b: readonly string[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((one, i) => one === b[i]);
}
