/**
 * The client of each protocol that the probe speaks: bytes in, pushes and bytes out.
 *
 * @module
 */
import type { Status } from "../wire/messages.ts";
import { adsClient } from "./probe_ads.ts";
import type { Standing } from "./probe_ledger.ts";
import { mcpClient } from "./probe_mcp.ts";
import type { ProbeOptions } from "./probe_options.ts";
import type { ProbedPush } from "./probe_push.ts";

/** What a message of the server is. */
export type ProbeReceived =
  /** {@link ProbeClient.settle} must follow. */
  | { readonly kind: "push"; readonly push: ProbedPush }
  /** Nothing that was asked for; it needs nothing from us. */
  | { readonly kind: "other"; readonly message: string }
  /** There is no going on. */
  | { readonly kind: "wrong"; readonly message: string };

/** One stream's side of a protocol. */
export interface ProbeClient {
  /** The method to call. */
  readonly path: string;
  /** The next request to write, if one is due. */
  next(): Uint8Array | undefined;
  /** Takes a message. Throws a WireError where it is none. */
  receive(bytes: Uint8Array): ProbeReceived;
  /** Accepts a push or, with an error, refuses it. */
  settle(push: ProbedPush, error?: Status): void;
  /** What of all that was asked for is answered. */
  standing(): Standing;
}

/** The client of the protocol asked for. */
export function probeClient(options: ProbeOptions): ProbeClient {
  return options.protocol === "mcp" ? mcpClient(options) : adsClient(options);
}
