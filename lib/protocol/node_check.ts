/**
 * Who a client says it is: asked of its first request, not of later ones.
 *
 * @module
 */
import type { Node } from "../wire/messages.ts";
import type { Failure } from "./subscriptions.ts";

/** Holds an xDS client to saying its node id in its first request (cases P26). */
export class NodeCheck {
  #known = false;

  /** An error if this is the first request and has no node id. */
  check(node: Node | undefined): Failure | undefined {
    if (this.#known) return undefined;
    if (node === undefined || node.id === "") {
      const message = "the first request of a stream must say who sends it: node.id is empty";
      return { ok: false, code: "INVALID_ARGUMENT", message };
    }
    this.#known = true;
    return undefined;
  }
}
