/**
 * Notices that a port accepts nobody any more. When a process runs out of files the runtime stops
 * accepting for good, and tells nobody; connections still seem to succeed, since the kernel queues
 * them. So the port is dialled from here, now and then, and must see that connection come in.
 *
 * @module
 */
import net from "node:net";

/** What is watched, and what is done about it. Times in milliseconds. */
export interface PortWatchOptions {
  /** Where the port is bound. */
  readonly address: { readonly host: string; readonly port: number };
  /** Takes a connection that is none of ours. */
  readonly admit: (socket: net.Socket) => void;
  /** Closes the port and opens it again. Rejects where that fails; then it is tried again next time. */
  readonly reopen: () => Promise<void>;
  /** Told that the port is dead, before it is reopened for the first time. Must not throw. */
  readonly dead?: () => void;
  /** Told that it accepts again. Must not throw. */
  readonly revived?: () => void;
  /** How long after the last time it is dialled. */
  readonly every: number;
  /** How long the connection may take to come in. Default 2 s. */
  readonly deadline?: number;
}

/** How often in a row a connection must not come in until something is done. */
const MOST_MISSED = 2;

/** One connection to our own port. */
interface Probe {
  readonly socket: net.Socket;
  /** Connections that came in before we knew which is ours. */
  readonly held: net.Socket[];
  readonly seen: () => void;
}

/** Watches a port until it is disposed of. */
export class PortWatch implements AsyncDisposable {
  readonly #options: PortWatchOptions;
  #probe: Probe | undefined;
  #missed = 0;
  /** Connections that came in, whoever they were. */
  #accepted = 0;
  #isDead = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn: Promise<void> | undefined;
  #closed = false;

  constructor(options: PortWatchOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Whether the port accepts, as far as is known. */
  get alive(): boolean {
    return !this.#isDead;
  }

  /** Takes every connection that comes in; those that are not ours are admitted. */
  take(socket: net.Socket): void {
    this.#accepted++;
    const probe = this.#probe;
    if (probe === undefined) return this.#options.admit(socket);
    if (probe.socket.localPort !== undefined && !probe.socket.connecting) this.#tell(probe, socket);
    else probe.held.push(socket.on("error", () => {})); // for a moment: loopback connects at once
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#probe?.socket.destroy();
    await this.#turn;
  }

  #schedule(): void {
    if (this.#closed || this.#options.every === Infinity) return;
    this.#timer = setTimeout(async () => {
      await (this.#turn = this.#look());
      this.#schedule();
    }, this.#options.every);
  }

  async #look(): Promise<void> {
    const before = this.#accepted;
    const result = await this.#dial();
    if (this.#closed || result === "unknown") return;
    if (result === "seen" || this.#accepted > before) { // others came in: it is just busy
      this.#missed = 0;
      if (!this.#isDead) return;
      this.#isDead = false;
      return this.#options.revived?.();
    }
    if (++this.#missed < MOST_MISSED) return;
    if (!this.#isDead) this.#options.dead?.();
    this.#isDead = true;
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    try {
      await this.#options.reopen();
      if (!this.#closed && await this.#dial() === "seen") {
        this.#isDead = false;
        this.#missed = 0;
        this.#options.revived?.();
      }
    } catch {
      // the next turn finds the port closed, and tries again
    }
  }

  /** `unknown`: we could not even dial, for example since there are no files left. */
  async #dial(): Promise<"seen" | "missed" | "unknown"> {
    const { address: { host, port }, deadline = 2000 } = this.#options;
    const result = Promise.withResolvers<"seen" | "missed" | "unknown">();
    const socket = net.connect({ host: dialable(host), port, allowHalfOpen: false });
    const probe: Probe = { socket, held: [], seen: () => result.resolve("seen") };
    this.#probe = probe;
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      result.resolve(code === "ECONNREFUSED" || code === "ECONNRESET" ? "missed" : "unknown");
    });
    socket.on("close", () => result.resolve("missed"));
    socket.on("connect", () => this.#sort(probe));
    const timer = setTimeout(() => result.resolve("missed"), deadline);
    const found = await result.promise;
    clearTimeout(timer);
    this.#probe = undefined;
    socket.destroy();
    this.#sort(probe);
    return found;
  }

  #sort(probe: Probe): void {
    for (const socket of probe.held.splice(0)) this.#tell(probe, socket);
  }

  #tell(probe: Probe, socket: net.Socket): void {
    if (socket.remotePort === probe.socket.localPort && isOurs(socket)) {
      socket.on("error", () => {}).destroy();
      probe.seen();
    } else this.#options.admit(socket);
  }
}

/** A connection from this machine has the same address at both ends, or loopback's. */
function isOurs({ remoteAddress, localAddress }: net.Socket): boolean {
  return remoteAddress === localAddress;
}

/** The address at which a port that is bound everywhere can be dialled. */
function dialable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
