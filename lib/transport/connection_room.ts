/**
 * How many connections the ports of one process take together: all of them are files of that process,
 * whichever port they came in at, and the store needs some too.
 *
 * @module
 */
import { connectionsThatFit } from "./open_files.ts";

/** Connections in all that are taken unless it is told otherwise, or fewer where not so many fit. */
const MOST_CONNECTIONS = 20_000;

/** What is kept free for each port that has fewer, so that one that is full closes no other: so much of an equal share. */
const KEPT = 0.25;

/** What one port takes of the room. */
export interface PortRoom {
  /** Takes room for one connection; false where there is none. */
  take(): boolean;
  /** Gives back what one connection took. */
  give(): void;
  /** No more is taken: nothing is kept free for this port any longer. What it took stays taken until it is given back. */
  close(): void;
}

interface Port {
  taken: number;
}

/** The room of all ports. */
export class ConnectionRoom {
  readonly #most: number;
  readonly #open = new Set<Port>();
  #taken = 0;

  /** `most`: connections in all; Infinity: no cap. */
  constructor(most: number = Math.min(MOST_CONNECTIONS, connectionsThatFit())) {
    this.#most = most;
  }

  /** Connections in all ports. */
  get taken(): number {
    return this.#taken;
  }

  /** Room for one more port. */
  port(): PortRoom {
    const port: Port = { taken: 0 };
    this.#open.add(port);
    return {
      take: () => this.#open.has(port) && this.#take(port),
      give: () => {
        port.taken--;
        this.#taken--;
      },
      close: () => void this.#open.delete(port),
    };
  }

  #take(port: Port): boolean {
    if (this.#taken + this.#keptFrom(port) >= this.#most) return false;
    port.taken++;
    this.#taken++;
    return true;
  }

  /** What is kept free for the other ports. */
  #keptFrom(port: Port): number {
    if (this.#most === Infinity) return 0;
    const each = Math.floor(this.#most * KEPT / this.#open.size);
    let kept = 0;
    for (const other of this.#open) {
      if (other !== port) kept += Math.max(0, each - other.taken);
    }
    return kept;
  }
}
