/**
 * A steady stream of requests through a proxy, each of which is accounted for: who answered, or why
 * nobody did.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { pause } from "./wait.ts";

/** What came of requests. */
export interface Tally {
  /** Requests that were answered well, by the name of who answered (`x-who`). */
  readonly answers: ReadonlyMap<string, number>;
  /** Requests that were not, by the reason: a status with the start of its text, or what broke. */
  readonly failures: ReadonlyMap<string, number>;
  /** Slowest answer. Milliseconds. */
  readonly slowest: number;
}

/** Where requests go. */
export interface Target {
  /** Whole URL; the address of the proxy's listener. */
  readonly url: string;
  /** The host that requests name. */
  readonly host: string;
}

/** Further settings of {@link Load}. */
export interface LoadOptions {
  /** Requests a second; default 100. */
  readonly rate?: number;
  /** A request that takes longer has failed. Milliseconds; default 10,000. */
  readonly deadline?: number;
}

/** Requests under way at most; more come only where nothing is answered any more. */
const UNDER_WAY = 1000;

/**
 * Sends requests at a steady rate, whatever becomes of them, until it is stopped: by turns on a
 * connection of its own and on those that are kept. No request is tried again.
 */
export class Load implements AsyncDisposable {
  readonly #requester: Requester;
  readonly #rate: number;
  readonly #stopped = new AbortController();
  readonly #sender: Promise<void>;

  constructor(target: Target, { rate = 100, deadline = 10_000 }: LoadOptions = {}) {
    this.#requester = new Requester(target, deadline);
    this.#rate = rate;
    this.#sender = this.#send();
  }

  /** What came of the requests that are over. */
  get tally(): Tally {
    return this.#requester.tally;
  }

  /** Requests answered well so far. */
  get answered(): number {
    return sum(this.tally.answers);
  }

  /** Stops sending; resolves, with all of them accounted for, once none is under way. */
  async stop(): Promise<Tally> {
    this.#stopped.abort();
    await this.#sender;
    return this.tally;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#requester[Symbol.dispose]();
  }

  async #send(): Promise<void> {
    const start = performance.now();
    const underWay = new Set<Promise<void>>();
    for (let sent = 0; !this.#stopped.signal.aborted; sent++) {
      const due = start + sent * 1000 / this.#rate - performance.now();
      if (due > 0) await pause(due);
      if (underWay.size >= UNDER_WAY) {
        this.#requester.failed(`not sent: ${UNDER_WAY} requests are without an answer`);
        continue;
      }
      const request = this.#requester.request(sent % 2 === 0);
      underWay.add(request);
      request.finally(() => underWay.delete(request));
    }
    await Promise.all(underWay);
  }
}

/** Who answers 200 requests, sorted; throws where one of them fails. */
export async function whoAnswers(target: Target): Promise<string> {
  const { answers, failures } = await sendMany(target, 200);
  assertEquals(Object.fromEntries(failures), {});
  return [...answers.keys()].sort().join(" ");
}

/** Sends that many requests, a few at a time. */
export async function sendMany(target: Target, count: number, atOnce = 20): Promise<Tally> {
  using requester = new Requester(target, 30_000);
  let left = count;
  const one = async () => {
    while (left-- > 0) await requester.request(false);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return requester.tally;
}

/** Sends one request. Rejects with the reason where it is not answered well. */
export async function sendOne(target: Target): Promise<string> {
  const { answers, failures } = await sendMany(target, 1, 1);
  const [reason] = failures.keys();
  if (reason !== undefined) throw new Error(`${target.host} at ${target.url}: ${reason}`);
  return [...answers.keys()][0]!;
}

/** Sum of counts. */
export function sum(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((all, count) => all + count, 0);
}

/** What broke, with what that came of. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `: ${reasonOf(error.cause)}`;
  return `${error.name}: ${error.message}${cause}`;
}

class Requester implements Disposable {
  readonly #target: Target;
  readonly #deadline: number;
  readonly #kept = Deno.createHttpClient({ allowHost: true });
  readonly #answers = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  #slowest = 0;

  constructor(target: Target, deadline: number) {
    this.#target = target;
    this.#deadline = deadline;
  }

  get tally(): Tally {
    return { answers: this.#answers, failures: this.#failures, slowest: this.#slowest };
  }

  failed(reason: string): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  /** Never rejects. */
  async request(ownConnection: boolean): Promise<void> {
    const start = performance.now();
    const client = ownConnection
      ? Deno.createHttpClient({ allowHost: true, poolMaxIdlePerHost: 0 })
      : this.#kept;
    try {
      const response = await fetch(this.#target.url, {
        client,
        headers: { host: this.#target.host },
        signal: AbortSignal.timeout(this.#deadline),
      });
      const text = await response.text();
      const who = response.headers.get("x-who");
      if (response.ok && who !== null) this.#answers.set(who, (this.#answers.get(who) ?? 0) + 1);
      else this.failed(`${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.failed(reasonOf(error));
    } finally {
      if (client !== this.#kept) client.close();
      this.#slowest = Math.max(this.#slowest, performance.now() - start);
    }
  }

  [Symbol.dispose](): void {
    this.#kept.close();
  }
}
