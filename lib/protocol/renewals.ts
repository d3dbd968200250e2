/**
 * Resources that a peer must be sent again though they did not change, since what they belong to did:
 * the endpoints of a cluster (cases P18). They count as theirs again once the peer accepted that.
 *
 * @module
 */
import type { Collection } from "../snapshot/collection.ts";
import type { NameFilter } from "./held.ts";

/** The renewals of one subscription. */
export class Renewals {
  /** By name, the nonce of the push that has it; undefined: none was made yet. */
  readonly #pushes = new Map<string, string | undefined>();

  /** Whether there are any. */
  get any(): boolean {
    return this.#pushes.size > 0;
  }

  /** Whether the peer has yet to accept this resource anew. */
  has(name: string): boolean {
    return this.#pushes.has(name);
  }

  /** This resource must be sent again, whatever was sent before. */
  add(name: string): void {
    this.#pushes.set(name, undefined);
  }

  /** A push of these resources was made. */
  sent(nonce: string, collection: Collection): void {
    for (const name of this.#pushes.keys()) {
      if (collection.get(name) !== undefined) this.#pushes.set(name, nonce);
    }
  }

  /** The peer accepted this push. */
  accepted(nonce: string): void {
    for (const [name, sent] of this.#pushes) if (sent === nonce) this.#pushes.delete(name);
  }

  /** Forgets what the peer no longer asks for. */
  restrict(wanted: NameFilter): void {
    for (const name of this.#pushes.keys()) if (!wanted.has(name)) this.#pushes.delete(name);
  }
}
