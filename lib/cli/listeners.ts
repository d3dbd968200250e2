/**
 * The ports that sinks and clients dial: opened as the settings say, and opened anew when the first
 * configuration read at start names others than the stored one did.
 *
 * @module
 */
import { parseHostPort } from "../config/address.ts";
import { formatHostPort } from "../model/host_port.ts";
import { listen, type Listener, type ListenerHooks } from "../transport/listener.ts";
import type { PushServer } from "../transport/server.ts";

/** Opens and closes the listeners of one server. Disposing it closes them; live streams stay. */
export class Listeners implements AsyncDisposable {
  readonly #server: PushServer;
  readonly #hooks: ListenerHooks;
  #open = new Map<string, Listener>();

  constructor(server: PushServer, hooks: ListenerHooks) {
    this.#server = server;
    this.#hooks = hooks;
  }

  /** The addresses listened on, as bound. */
  get addresses(): string[] {
    return [...this.#open.values()].map(({ address: { host, port } }) =>
      formatHostPort(host, port)
    );
  }

  /**
   * Listens on exactly these addresses (`host:port`, nothing left to expand). Those already open stay
   * open. Rejects with a ListenError that says which setting to change; then nothing is changed.
   */
  async configure(addresses: readonly string[]): Promise<void> {
    const next = new Map<string, Listener>();
    const opened: Listener[] = [];
    try {
      for (const address of addresses) {
        const kept = this.#open.get(address);
        const listener = kept ?? await this.#listen(address);
        if (kept === undefined) opened.push(listener);
        next.set(address, listener);
      }
    } catch (error) {
      await Promise.all(opened.map((listener) => listener[Symbol.asyncDispose]()));
      throw error;
    }
    const closing = [...this.#open].filter(([address]) => !next.has(address));
    this.#open = next;
    await Promise.all(closing.map(([, listener]) => listener[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.configure([]);
  }

  #listen(address: string): Promise<Listener> {
    const at = parseHostPort(address);
    if (at === undefined) throw new TypeError(`${address} is not host:port`);
    return listen(at, this.#server, { now: () => performance.now(), hooks: this.#hooks });
  }
}
