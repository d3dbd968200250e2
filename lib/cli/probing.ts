/**
 * One stream of the probe at work: asks, takes each push, answers it.
 *
 * @module
 */
import { once } from "node:events";
import type { PushStream } from "../transport/push_stream.ts";
import type { ProbeClient, ProbedPush } from "./probe_client.ts";
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

/** `google.rpc.Code.INVALID_ARGUMENT`. */
const INVALID_ARGUMENT = 3;

/** Types that are named where they were not answered. */
const NAMED = 5;

/** Asks for every type and answers what comes. Disposing it ends the stream. */
export class Probing implements AsyncDisposable {
  readonly #stream: PushStream;
  readonly #client: ProbeClient;
  readonly #options: ProbeOptions;
  readonly #tell: (news: ProbeNews) => void;
  readonly #missing: Set<string>;
  /** By type, the version refused. */
  readonly #refused = new Map<string, string>();
  readonly #end = Promise.withResolvers<ProbeEnd>();
  #writing: Promise<void> | undefined;
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
    this.#missing = new Set(options.types);
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
      if (this.#missing.size === 0 && !this.#options.follow) await this.#conclude();
      return await this.#end.promise;
    } finally {
      clearTimeout(late);
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
    this.#end.resolve({ kind: "answered", types: this.#options.types.length });
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
    this.#tell({ kind: "push", push, refused });
    if (again !== undefined && again === version) {
      this.#tell({ kind: "note", message: `${type}: the version refused was sent again` });
    }
    if (refused === undefined) this.#client.settle(push);
    else {
      this.#refused.set(type, version);
      this.#client.settle(push, { code: INVALID_ARGUMENT, message: refused, details: [] });
    }
    this.#missing.delete(type);
    this.#progress();
    if (this.#missing.size === 0) this.#answered.resolve();
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
    const { types, follow } = this.#options;
    const done = types.length - this.#missing.size;
    const text = this.#missing.size > 0
      ? `${done} of ${types.length} types answered`
      : follow
      ? "following; Ctrl-C ends it"
      : "all answered";
    this.#tell({ kind: "progress", text });
  }

  #stop(): void {
    if (this.#missing.size === 0) this.#end.resolve({ kind: "told" });
    else this.#fail(`stopped before there was an answer for ${this.#unanswered()}`);
  }

  #late(): void {
    const { timeout } = this.#options;
    this.#fail(`no answer within ${duration(timeout)} for ${this.#unanswered()}`);
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

  #unanswered(): string {
    const types = [...this.#missing];
    const more = types.length > NAMED ? ` and ${types.length - NAMED} more` : "";
    return types.slice(0, NAMED).join(", ") + more;
  }
}
