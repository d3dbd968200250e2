/**
 * One stream of the probe at work: asks, takes each push, answers it.
 *
 * @module
 */
import { once } from "node:events";
import type { PushStream } from "../transport/push_stream.ts";
import type { ProbeClient } from "./probe_client.ts";
import type { ProbedPush } from "./probe_push.ts";
import type { ProbeOptions } from "./probe_options.ts";
import { duration } from "./terminal.ts";

/** What there is to say while it goes on. */
export type ProbeNews =
  | { readonly kind: "progress"; readonly text: string }
  | { readonly kind: "note"; readonly message: string }
  | { readonly kind: "push"; readonly push: ProbedPush; readonly refused: string | undefined };

/** How a stream of the probe ended. */
export type ProbeEnd =
  | { readonly kind: "answered"; readonly types: number }
  | { readonly kind: "told" }
  | { readonly kind: "failed"; readonly message: string };

/** How long the server gets to send again what was refused. Milliseconds. */
const AFTER_NACK = 2000;

/** How long something that is not there may take to come after all, as where it was named while an answer was under way. Milliseconds. */
const HOPE = 1000;

/** `google.rpc.Code.INVALID_ARGUMENT`. */
const INVALID_ARGUMENT = 3;

/** What was not answered: so much of it is named. */
const NAMED = 5;

/** Asks for every type and answers what comes. Disposing it ends the stream. */
export class Probing implements AsyncDisposable {
  readonly #stream: PushStream;
  readonly #client: ProbeClient;
  readonly #options: ProbeOptions;
  readonly #tell: (news: ProbeNews) => void;
  /** By type, the version refused. */
  readonly #refused = new Map<string, string>();
  readonly #end = Promise.withResolvers<ProbeEnd>();
  #writing: Promise<void> | undefined;
  /** Runs while nothing but what is not there is lacking. */
  #hoping: ReturnType<typeof setTimeout> | undefined;
  readonly #answered = Promise.withResolvers<void>();
  #closing = false;

  constructor(
    stream: PushStream,
    client: ProbeClient,
    options: ProbeOptions,
    tell: (news: ProbeNews) => void,
  ) {
    this.#stream = stream;
    this.#client = client;
    this.#options = options;
    this.#tell = tell;
    stream.signal.addEventListener("abort", () => this.#over(), { once: true });
    stream.onRequest((bytes) => this.#receive(bytes));
    if (stream.signal.aborted) this.#over();
    this.#pump();
  }

  /** Goes on until every type is answered and, with `follow`, until told to stop; `ms`: until the answers have to be there. */
  async run(ms: number, signal: AbortSignal): Promise<ProbeEnd> {
    this.#progress();
    const stopped = () => this.#stop();
    signal.addEventListener("abort", stopped, { once: true });
    const late = setTimeout(() => this.#late(), ms);
    try {
      await Promise.race([this.#answered.promise, this.#end.promise]);
      clearTimeout(late);
      if (signal.aborted) this.#stop();
      if (this.#complete && !this.#options.follow) await this.#conclude();
      return await this.#end.promise;
    } finally {
      clearTimeout(late);
      clearTimeout(this.#hoping);
      signal.removeEventListener("abort", stopped);
    }
  }

  /** Takes half a second at most, in which the server can take the last answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const { signal } = this.#stream;
    await this.#writing;
    this.#stream.end();
    if (!signal.aborted) await once(signal, "abort");
  }

  /** Every answer is written; what was refused gets its chance to come again. */
  async #conclude(): Promise<void> {
    await this.#writing;
    if (this.#refused.size > 0) {
      this.#tell({ kind: "progress", text: "refused; waiting for what the server makes of it" });
      const wait = Promise.withResolvers<void>();
      const timer = setTimeout(wait.resolve, AFTER_NACK);
      await Promise.race([wait.promise, this.#end.promise]);
      clearTimeout(timer);
    }
    this.#end.resolve({ kind: "answered", types: this.#client.standing().asked });
  }

  #receive(bytes: Uint8Array): void {
    if (this.#closing) return;
    try {
      const received = this.#client.receive(bytes);
      if (received.kind === "push") this.#take(received.push);
      else if (received.kind === "other") this.#tell({ kind: "note", message: received.message });
      else this.#fail(`the server breaks the protocol: ${received.message}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#fail(`what the server sent is not of this protocol: ${why}`);
    }
    this.#pump();
  }

  #take(push: ProbedPush): void {
    const { type, version } = push;
    const { nack } = this.#options;
    const again = this.#refused.get(type);
    const refused = nack !== undefined && again === undefined ? nack : undefined;
    if (this.#options.shown?.has(type) ?? true) this.#tell({ kind: "push", push, refused });
    if (again !== undefined && again === version) {
      this.#tell({ kind: "note", message: `${type}: the version refused was sent again` });
    }
    if (refused === undefined) this.#client.settle(push);
    else {
      this.#refused.set(type, version);
      this.#client.settle(push, { code: INVALID_ARGUMENT, message: refused, details: [] });
    }
    this.#progress();
    this.#judge();
  }

  /** Whether there is an answer to all that was asked for. */
  get #complete(): boolean {
    const { missing, absent } = this.#client.standing();
    return missing.length === 0 && absent.length === 0;
  }

  #judge(): void {
    clearTimeout(this.#hoping);
    const { missing, absent } = this.#client.standing();
    if (missing.length > 0) return;
    if (absent.length === 0) return this.#answered.resolve();
    this.#hoping = setTimeout(() => {
      const message = `the server does not have ${listed(absent)}`;
      if (!this.#options.follow) return this.#fail(message);
      this.#tell({ kind: "note", message });
      this.#answered.resolve();
    }, HOPE);
  }

  /** Writes what is due, one request after the other. */
  #pump(): void {
    this.#writing ??= this.#write().finally(() => this.#writing = undefined);
  }

  async #write(): Promise<void> {
    for (let bytes = this.#client.next(); bytes !== undefined; bytes = this.#client.next()) {
      if (this.#stream.signal.aborted) return;
      try {
        await this.#stream.write({ pieces: [bytes], length: bytes.length });
      } catch {
        return; // the stream is over, which is told elsewhere
      }
    }
  }

  #progress(): void {
    const { asked, answered } = this.#client.standing();
    const text = !this.#complete
      ? `${answered} of ${asked} types answered`
      : this.#options.follow
      ? "following; Ctrl-C ends it"
      : "all answered";
    this.#tell({ kind: "progress", text });
  }

  #stop(): void {
    const { missing, absent } = this.#client.standing();
    const lacking = this.#options.follow ? missing : [...missing, ...absent];
    if (lacking.length === 0) this.#end.resolve({ kind: "told" });
    else this.#fail(`stopped before there was an answer for ${listed(lacking)}`);
  }

  #late(): void {
    const { timeout } = this.#options;
    const { missing, absent } = this.#client.standing();
    this.#fail(`no answer within ${duration(timeout)} for ${listed([...missing, ...absent])}`);
  }

  #over(): void {
    const why = this.#stream.failure ?? "without a reason";
    this.#fail(`the server ended the stream: ${why}${this.#hintFor(why)}`);
  }

  #hintFor(why: string): string {
    if (/larger than max/.test(why)) return "; --max-message says how much is taken";
    // Some servers end the stream at the first type that they do not serve.
    const isType = /^(INVALID_ARGUMENT|UNIMPLEMENTED|NOT_FOUND|UNKNOWN)/.test(why);
    return isType && !this.#options.named ? "; --collection asks only for what you name" : "";
  }

  #fail(message: string): void {
    this.#end.resolve({ kind: "failed", message });
  }
}

function listed(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return names.slice(0, NAMED).join(", ") + more;
}
