/**
 * Accepts connections with `node:net` and hands those that speak HTTP/2 to a server. Whoever does not
 * (health probes, scanners, garbage) costs a socket for a moment and nothing else.
 *
 * @module
 */
import net from "node:net";
import { formatHostPort } from "../model/host_port.ts";
import { Gate, type PeerIdentity } from "./gate.ts";
import type { FrameLimits, Violation } from "./frame_rules.ts";
import { ClientLeftError, HandshakeError } from "./server_handshake.ts";

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
  /** Connections in all. Default 20,000; Infinity: no cap. */
  readonly maxConnections?: number;
  /** Connections of one IP address. Default 10,000; Infinity: no cap. */
  readonly maxPerAddress?: number;
  readonly limits?: FrameLimits;
  readonly hooks?: ListenerHooks;
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
}

/** Listens. Rejects with a {@link ListenError} that says what is in the way. */
export async function listen(
  at: ListenAddress,
  taker: ConnectionTaker,
  options: ListenOptions,
): Promise<Listener> {
  const doorkeeper = new Doorkeeper(taker, options);
  const server = net.createServer({ allowHalfOpen: false, noDelay: true }, (socket) => {
    doorkeeper.admit(socket);
  });
  const host = at.host.replace(/^\[(.*)\]$/, "$1");
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(listenError(host, at.port, cause)));
    server.listen({ host, port: at.port }, resolve);
  });
  server.on("error", () => {}); // uncaught, it would end the process
  const bound = server.address() as net.AddressInfo;
  return {
    address: { host: bound.address, port: bound.port },
    [Symbol.asyncDispose]() {
      server.close();
      doorkeeper.dropUnfinished();
      return Promise.resolve();
    },
  };
}

/** Counts connections, and lets in those that get ready in time. */
class Doorkeeper {
  readonly #taker: ConnectionTaker;
  readonly #options: ListenOptions;
  readonly #unfinished = new Set<net.Socket>();
  readonly #perAddress = new Map<string, number>();
  #connections = 0;

  constructor(taker: ConnectionTaker, options: ListenOptions) {
    this.#taker = taker;
    this.#options = options;
  }

  admit(socket: net.Socket): void {
    socket.on("error", () => {}); // "close" follows
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy(); // gone already
    const full = this.#full(address);
    if (full !== undefined) return this.#refuse(socket, full, address);
    this.#count(socket, address);
    const { prefaceDeadline = 5000, secure } = this.#options;
    const settled = () => {
      clearTimeout(timer);
      return this.#unfinished.delete(socket);
    };
    const refuse = (reason: RefusalReason, detail?: string) => {
      if (settled()) this.#refuse(socket, reason, address, detail);
    };
    const timer = setTimeout(() => refuse("deadline"), prefaceDeadline);
    if (secure === undefined) {
      socket.once("close", settled);
      return this.#gate({ socket }, address, settled);
    }
    // A handshake that fails closes the socket itself; it is settled by what `secure` comes to.
    secure(socket).then(
      (secured) => {
        if (socket.destroyed) return void settled();
        socket.once("close", settled);
        this.#gate(secured, address, settled);
      },
      (error) => {
        if (error instanceof ClientLeftError) settled(); // a health probe, for example
        else refuse(error instanceof HandshakeError ? error.reason : "handshake", said(error));
      },
    );
  }

  dropUnfinished(): void {
    for (const socket of this.#unfinished) socket.destroy();
  }

  #gate({ socket, identity }: Secured, address: string, settled: () => boolean): void {
    const { now, limits, hooks, name } = this.#options;
    new Gate(socket, {
      side: "server",
      now,
      ...(limits === undefined ? {} : { limits }),
      ...(identity === undefined ? {} : { identity }),
      ...(name === undefined ? {} : { listener: name }),
      hooks: {
        preface: (gate) => {
          settled();
          this.#taker.inject(gate);
        },
        violation: (violation) => hooks?.violation?.(violation, address),
      },
    });
  }

  #full(address: string): RefusalReason | undefined {
    const { maxUnfinished = 1000, maxConnections = 20_000, maxPerAddress = 10_000 } = this.#options;
    if (this.#connections >= maxConnections) return "connections";
    if ((this.#perAddress.get(address) ?? 0) >= maxPerAddress) return "address";
    if (this.#unfinished.size >= maxUnfinished) return "unfinished";
    return undefined;
  }

  #count(socket: net.Socket, address: string): void {
    this.#connections++;
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    this.#unfinished.add(socket);
    socket.once("close", () => {
      this.#connections--;
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
  }

  #refuse(socket: net.Socket, reason: RefusalReason, address: string, detail?: string): void {
    this.#options.hooks?.refused?.(reason, address, detail);
    socket.destroy();
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
