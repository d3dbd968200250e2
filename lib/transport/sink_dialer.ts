/**
 * Dial-out: any number of sinks, a link to every address behind each name. Names are looked up again
 * and again, so that a replica that comes or goes is followed; no sink waits for another.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import { NameLookUp } from "./name_look_up.ts";
import { sameTarget } from "./same_target.ts";
import { type LinkContext, type LinkStatus, SinkLink, type SinkTarget } from "./sink_link.ts";

/** How often a sink's name is looked up again. Milliseconds. */
const LOOK_UP_EVERY = 30_000;

/** How often a name that does not resolve is tried again. Milliseconds. */
const LOOK_UP_AGAIN = 2000;

/** Gives every IP address behind a host name. Rejects where there is none. May take for ever. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** What the dialer works with. */
export interface DialerOptions extends LinkContext {
  readonly resolve: Resolve;
  /** Told each time a name does not resolve, until it does. Must not throw. */
  readonly unresolved: (sink: string, host: string, reason: string) => void;
}

/** A sink, for status. */
export interface SinkStatus {
  readonly name: string;
  readonly address: string;
  /** Why the name does not resolve, while it does not. */
  readonly unresolved?: string;
  readonly links: readonly LinkStatus[];
}

/** Dials every sink it is told of. Disposing it ends all links. */
export class SinkDialer implements AsyncDisposable {
  readonly #options: DialerOptions;
  readonly #sinks = new Map<string, Sink>();
  #closing: Promise<void>[] = [];

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** Makes these the sinks: new ones are dialled, those gone are ended, changed ones are dialled anew; the rest is left alone. */
  configure(targets: readonly SinkTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.name, target]));
    for (const [name, sink] of this.#sinks) {
      const target = wanted.get(name);
      if (target !== undefined && sameTarget(target, sink.target)) continue;
      this.#sinks.delete(name);
      this.#close(sink);
    }
    for (const target of targets) {
      if (!this.#sinks.has(target.name)) {
        this.#sinks.set(target.name, new Sink(target, this.#options));
      }
    }
  }

  /** Where each sink stands, in the order of configuration. */
  status(): SinkStatus[] {
    return [...this.#sinks.values()].map((sink) => sink.status());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.configure([]);
    await Promise.all(this.#closing);
  }

  #close(sink: Sink): void {
    const closing = sink[Symbol.asyncDispose]().finally(() => {
      this.#closing = this.#closing.filter((other) => other !== closing);
    });
    this.#closing.push(closing);
  }
}

/** One configured sink and the links to its addresses. */
class Sink implements AsyncDisposable {
  readonly target: SinkTarget;
  readonly #options: DialerOptions;
  readonly #abort = new AbortController();
  /** By address; of a sink behind a proxy, the one by its name. */
  readonly #links = new Map<string, SinkLink>();
  /** Links that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  readonly #done: Promise<void>;
  #unresolved: string | undefined;

  constructor(target: SinkTarget, options: DialerOptions) {
    this.target = target;
    this.#options = options;
    this.#done = this.#run(this.#abort.signal);
  }

  status(): SinkStatus {
    const { name, host, port } = this.target;
    return {
      name,
      address: formatHostPort(host, port),
      ...(this.#unresolved === undefined ? {} : { unresolved: this.#unresolved }),
      links: [...this.#links.values()].map((link) => link.status()),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#done;
    for (const address of [...this.#links.keys()]) this.#end(address);
    await Promise.all(this.#ending);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { target } = this;
    if (target.proxy !== undefined) { // which looks the name up itself
      this.#links.set(target.host, new SinkLink(target, undefined, this.#options));
      return;
    }
    const { resolve, clock } = this.#options;
    const lookUp = new NameLookUp(() => resolve(target.host), clock);
    while (!signal.aborted) {
      const found = await this.#lookUp(lookUp, signal);
      if (signal.aborted) return;
      if (found !== undefined) this.#follow(found);
      await clock.sleep(found === undefined ? LOOK_UP_AGAIN : LOOK_UP_EVERY, signal);
    }
  }

  /** A name that no longer resolves keeps the links it has: DNS failing is no reason to hang up. */
  async #lookUp(lookUp: NameLookUp, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { name, host } = this.target;
    try {
      const found = await lookUp.find(signal);
      this.#unresolved = undefined;
      return found;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#unresolved = error instanceof Error ? error.message : String(error);
      this.#options.unresolved(name, host, this.#unresolved);
      return undefined;
    }
  }

  #follow(addresses: readonly string[]): void {
    for (const address of this.#links.keys()) {
      if (!addresses.includes(address)) this.#end(address);
    }
    for (const address of addresses) {
      if (!this.#links.has(address)) {
        this.#links.set(address, new SinkLink(this.target, address, this.#options));
      }
    }
  }

  /** Nobody waits for it but whoever disposes of all. */
  #end(address: string): void {
    const ending = this.#links.get(address)![Symbol.asyncDispose]().finally(() => {
      this.#ending.delete(ending);
    });
    this.#links.delete(address);
    this.#ending.add(ending);
  }
}
