/**
 * The HTTP upstreams of one service: on addresses of their own, all on one port.
 *
 * @module
 */
import { freePort } from "./ports.ts";
import { HttpUpstream, type Papers } from "./upstreams.ts";

/** Further settings of a {@link Fleet}. */
export interface FleetOptions {
  /** They are on 127.0.`net`.1, 127.0.`net`.2 and so on; default 1. */
  readonly net?: number;
  /** Absent: they speak plaintext. */
  readonly tls?: Papers;
}

/** Several upstreams, each of which can be ended and started again. */
export class Fleet implements AsyncDisposable {
  /** The port of all. */
  readonly port = freePort();
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #tls: Papers | undefined;
  readonly #up = new Map<string, HttpUpstream>();

  /** Starts an upstream of each name. */
  constructor(names: readonly string[], { net = 1, tls }: FleetOptions = {}) {
    this.#addresses = new Map(names.map((name, index) => [name, `127.0.${net}.${index + 1}`]));
    this.#tls = tls;
    for (const name of names) this.start(name);
  }

  /** IP address of an upstream, whether it runs or not. */
  address(name: string): string {
    const address = this.#addresses.get(name);
    if (address === undefined) throw new Error(`no upstream is named ${name}`);
    return address;
  }

  /** `address:port` of an upstream. */
  at(name: string): string {
    return `${this.address(name)}:${this.port}`;
  }

  /** A running upstream. */
  get(name: string): HttpUpstream {
    const upstream = this.#up.get(name);
    if (upstream === undefined) throw new Error(`the upstream ${name} does not run`);
    return upstream;
  }

  /** Starts an upstream, if it does not run. */
  start(name: string): void {
    if (this.#up.has(name)) return;
    const options = { name, hostname: this.address(name), port: this.port };
    this.#up.set(name, new HttpUpstream(options, this.#tls));
  }

  /** Ends an upstream, if it runs, once what is under way is answered. */
  async end(name: string): Promise<void> {
    const upstream = this.#up.get(name);
    this.#up.delete(name);
    await upstream?.end();
  }

  /** Ends an upstream, if it runs, with all that is under way. */
  async kill(name: string): Promise<void> {
    const upstream = this.#up.get(name);
    this.#up.delete(name);
    await upstream?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#up.keys()].map((name) => this.kill(name)));
  }
}
