/**
 * Accepts connections with `node:net` and hands those that speak HTTP/2 to a server. Whoever does not
 * (health probes, scanners, garbage) costs a socket for a moment and nothing else.
 *
 * @module
 */
import net from "node:net";
import { formatHostPort } from "../model/host_port.ts";
import type { ConnectionRoom } from "./connection_room.ts";
import { Doorkeeper } from "./doorkeeper.ts";
import type { FrameLimits, Violation } from "./frame_rules.ts";
import type { Gate, PeerIdentity } from "./gate.ts";
import { PortWatch } from "./port_watch.ts";

/** Where connections go. {@link PushServer} is one. */
export interface ConnectionTaker {
  /** Takes over a connection whose preface is complete. */
  inject(gate: Gate): void;
}

/** Where to listen. */
export interface ListenAddress {
  /** Name or IP address; IPv6 with or without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Why a connection was turned away before it was anybody's; a label for metrics. */
export type RefusalReason =
  | "connections"
  | "address"
  | "unfinished"
  | "deadline"
  | "handshake"
  | "allow";

/** Told what happens. None of it may throw. */
export interface ListenerHooks {
  /**
   * A connection was turned away: a cap was reached, it did not get ready in time, or its handshake
   * failed, of which `detail` says why, and who it was.
   */
  refused?(reason: RefusalReason, address: string, detail?: string): void;
  /** A connection was ended since its peer broke the rules of HTTP/2. */
  violation?(violation: Violation, address: string): void;
  /** The port accepts nobody any more, as it is when the process has run out of files; it is opened anew until it does. */
  dead?(): void;
  /** The port accepts again. */
  revived?(): void;
}

/** A raw connection made secure: what to read and write instead, and who the peer proved to be. */
export interface Secured {
  readonly socket: net.Socket;
  readonly identity?: PeerIdentity;
}

/** How connections are accepted. Times in milliseconds. */
export interface ListenOptions {
  /** Only differences count. */
  readonly now: () => number;
  /** How long a client may take from connecting to the end of its preface. Default 5 s. */
  readonly prefaceDeadline?: number;
  /** Connections without a complete preface. Default 1,000. */
  readonly maxUnfinished?: number;
  /**
   * How many connections this port and others take together. Default: a room of its own, of 20,000, or
   * fewer where the process may not have as many files open and that can be found out.
   */
  readonly room?: ConnectionRoom;
  /** Connections of one IP address. Default 10,000; Infinity: no cap. */
  readonly maxPerAddress?: number;
  readonly limits?: FrameLimits;
  readonly hooks?: ListenerHooks;
  /** How often it is tried whether the port still accepts. Default 10 s; Infinity: never. */
  readonly watchEvery?: number;
  /** The address as configured; what its peers are known to have dialled. */
  readonly name?: string;
  /**
   * Turns a raw connection into a secured one. Absent: plaintext. Rejects where the handshake fails:
   * with a HandshakeError that knows the reason, or a ClientLeftError where nobody is to be refused.
   */
  readonly secure?: (socket: net.Socket) => Promise<Secured>;
}

/** Listening failed. `cause` is the system's error. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** An open port. Disposing it stops accepting and drops whoever did not get ready; others stay with their server. */
export interface Listener extends AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  /** Whether it accepts, as far as is known. */
  readonly alive: boolean;
}

/** Listens. Rejects with a {@link ListenError} that says what is in the way. */
export async function listen(
  at: ListenAddress,
  taker: ConnectionTaker,
  options: ListenOptions,
): Promise<Listener> {
  const host = at.host.replace(/^\[(.*)\]$/, "$1");
  const port = new OpenPort(taker, options);
  await port.open(host, at.port);
  return port;
}

/** How often a port is watched. Milliseconds. */
const WATCH_EVERY = 10_000;

class OpenPort implements Listener {
  readonly #options: ListenOptions;
  readonly #doorkeeper: Doorkeeper;
  #server: net.Server | undefined;
  #watch: PortWatch | undefined;
  #bound: net.AddressInfo | undefined;
  #closed = false;

  constructor(taker: ConnectionTaker, options: ListenOptions) {
    this.#options = options;
    this.#doorkeeper = new Doorkeeper(taker, options);
  }

  get address(): { readonly host: string; readonly port: number } {
    const { address, port } = this.#bound!;
    return { host: address, port };
  }

  get alive(): boolean {
    return !this.#closed && (this.#watch?.alive ?? true);
  }

  async open(host: string, port: number): Promise<void> {
    this.#bound = await this.#listen(host, port);
    const { hooks, watchEvery = WATCH_EVERY } = this.#options;
    this.#watch = new PortWatch({
      address: this.address,
      admit: (socket) => this.#doorkeeper.admit(socket),
      reopen: () => this.#reopen(),
      dead: () => hooks?.dead?.(),
      revived: () => hooks?.revived?.(),
      every: watchEvery,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#server?.close();
    this.#doorkeeper.close();
    await this.#watch?.[Symbol.asyncDispose]();
    this.#server?.close(); // one that was being opened anew
  }

  async #listen(host: string, port: number): Promise<net.AddressInfo> {
    const server = net.createServer({ allowHalfOpen: false, noDelay: true }, (socket) => {
      if (this.#watch === undefined) this.#doorkeeper.admit(socket);
      else this.#watch.take(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", (cause) => reject(listenError(host, port, cause)));
      server.listen({ host, port }, resolve);
    });
    server.on("error", () => {}); // uncaught, it would end the process
    this.#server = server;
    return server.address() as net.AddressInfo;
  }

  async #reopen(): Promise<void> {
    this.#server?.close();
    if (!this.#closed) await this.#listen(this.address.host, this.address.port);
  }
}

function listenError(host: string, port: number, cause: NodeJS.ErrnoException): ListenError {
  const at = formatHostPort(host, port);
  const reasons: Record<string, string> = {
    EADDRINUSE: "the port is already in use",
    EACCES: "this user may not listen on that port",
    EADDRNOTAVAIL: "this machine has no such address",
    EINVAL: "this machine has no such address", // what Deno makes of it
    ENOTFOUND: "the host name is not known",
    EAI_AGAIN: "the host name is not known, as far as can be found out now",
  };
  const reason = reasons[cause.code ?? ""] ?? cause.message;
  return new ListenError(`cannot listen on ${at}: ${reason}`, { cause });
}
