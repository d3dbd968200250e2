/**
 * Who comes in at a port: caps, deadlines, a handshake where one is asked for, then the gate.
 *
 * @module
 */
import type { Socket } from "node:net";
import { ConnectionRoom, type PortRoom } from "./connection_room.ts";
import { Gate } from "./gate.ts";
import type { ConnectionTaker, ListenOptions, RefusalReason, Secured } from "./listener.ts";
import { ClientLeftError, HandshakeError } from "./server_handshake.ts";

/** A connection that is not ready yet. */
interface Unfinished {
  readonly address: string;
  /** Turns it away. */
  giveWay(): void;
}

/**
 * Where there is no room, an address that has more than this part of what may be unfinished makes some:
 * one that opens connections and leaves them so must keep nobody else out.
 */
const SHARE = 1 / 20;

/** Counts connections, and lets in those that get ready in time. */
export class Doorkeeper {
  readonly #taker: ConnectionTaker;
  readonly #options: ListenOptions;
  /** The oldest first. */
  readonly #unfinished = new Map<Socket, Unfinished>();
  readonly #perAddress = new Map<string, number>();
  readonly #room: PortRoom;

  constructor(taker: ConnectionTaker, options: ListenOptions) {
    this.#taker = taker;
    this.#options = options;
    this.#room = (options.room ?? new ConnectionRoom()).port();
  }

  /** Takes a connection that was accepted. */
  admit(socket: Socket): void {
    socket.on("error", () => {}); // "close" follows
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy(); // gone already
    const full = this.#full(address);
    if (full !== undefined) return this.#refuse(socket, full, address);
    const leave = this.#count(socket, address);
    const { prefaceDeadline = 5000, secure } = this.#options;
    const settled = () => {
      clearTimeout(timer);
      return this.#unfinished.delete(socket);
    };
    const refuse = (reason: RefusalReason, detail?: string) => {
      if (settled()) this.#refuse(socket, reason, address, detail);
    };
    const timer = setTimeout(() => refuse("deadline"), prefaceDeadline);
    const giveWay = () => {
      refuse("unfinished");
      leave();
    };
    this.#unfinished.set(socket, { address, giveWay });
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

  /** Nobody comes in any more; drops whoever did not get ready. */
  close(): void {
    this.#room.close();
    for (const socket of this.#unfinished.keys()) socket.destroy();
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

  /** Takes room for a connection; gives the reason where there is none. */
  #full(address: string): RefusalReason | undefined {
    const { maxUnfinished = 1000, maxPerAddress = 10_000 } = this.#options;
    if ((this.#perAddress.get(address) ?? 0) >= maxPerAddress) return "address";
    const share = Math.max(1, Math.ceil(maxUnfinished * SHARE));
    const full = this.#unfinished.size >= maxUnfinished;
    if (full && !this.#makeRoom(address, share)) return "unfinished";
    if (this.#room.take()) return undefined;
    return this.#makeRoom(address, share) && this.#room.take() ? undefined : "connections";
  }

  /** The oldest unfinished connection of the address with most gives way to one of an address with few. */
  #makeRoom(address: string, share: number): boolean {
    const counts = new Map<string, number>();
    for (const { address } of this.#unfinished.values()) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    const [most, count] = [...counts].reduce((a, b) => b[1] > a[1] ? b : a, ["", 0]);
    if (count <= share || (counts.get(address) ?? 0) >= share) return false;
    this.#unfinished.values().find((one) => one.address === most)?.giveWay();
    return true;
  }

  /** Counts a connection until it is closed, or what is returned is called. */
  #count(socket: Socket, address: string): () => void {
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    let counted = true;
    const leave = () => {
      if (!counted) return;
      counted = false;
      this.#room.give();
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    };
    socket.once("close", leave);
    return leave;
  }

  #refuse(socket: Socket, reason: RefusalReason, address: string, detail?: string): void {
    this.#options.hooks?.refused?.(reason, address, detail);
    socket.destroy();
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
