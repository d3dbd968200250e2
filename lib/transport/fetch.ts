/**
 * One answer without a stream: what a client would get first if it opened one.
 *
 * @module
 */
import type { XdsType } from "../model/xds_type.ts";
import { SotwMachine } from "../protocol/sotw.ts";
import type { XdsResolvers } from "../protocol/xds_resolver.ts";
import type { Message } from "../wire/compose.ts";
import type { DiscoveryRequest } from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { answerInTurn } from "./one_request.ts";
import { factsOf } from "./peer_facts.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import type { SessionCodec } from "./session_info.ts";
import type { Sessions } from "./sessions.ts";

/** What a fetch is answered with. */
export interface FetchOptions {
  readonly sessions: Sessions;
  readonly type: XdsType;
  readonly codec: SessionCodec<DiscoveryRequest>;
  /** What a client is served, by its kind. */
  readonly resolverOf: XdsResolvers;
}

/**
 * Answers one request in full, whatever version it says that it has, and ends the call. The answer is
 * made when it can be written, and counts with all that is on its way to peers; it waits until there is
 * something to serve to that kind of client.
 */
export function fetchOnce(stream: PushStream, bytes: Uint8Array, options: FetchOptions): void {
  const { sessions } = options;
  const place = answerInTurn(stream, sessions.sender, () => fetch(stream, bytes, options));
  const waiting = sessions.onChange(() => place.wake());
  stream.signal.addEventListener("abort", () => waiting[Symbol.dispose](), { once: true });
}

/** The answer; undefined where what there is to be is not known yet. */
function fetch(
  stream: PushStream,
  bytes: Uint8Array,
  options: FetchOptions,
): Message | EndStatus | undefined {
  const { sessions, codec, type } = options;
  const request = decoded(bytes, codec);
  if ("refused" in request) return request.refused;
  if (!type.wildcard && request.resourceNames.length === 0) {
    return refused(
      "INVALID_ARGUMENT",
      `${type.shortName} is asked for by resource_names: give some`,
    );
  }
  const view = sessions.view(factsOf({
    protocol: codec.protocol,
    peer: stream.peer,
    introduction: codec.identify(request),
    sink: undefined,
    firstType: type.typeUrl,
  }));
  const resolver = options.resolverOf(() => view.kind);
  const machine = new SotwMachine({ prefix: sessions.prefix(), resolver });
  const received = machine.receive(request);
  if (!received.ok) return refused(received.code, received.message);
  if (view.snapshot === undefined) return undefined;
  machine.retarget(view.snapshot);
  const push = machine.next();
  if (push !== undefined) return codec.compose(push);
  const names = request.resourceNames.length === 0
    ? "give resource_names"
    : "none of these resource_names is one";
  return refused(
    "INVALID_ARGUMENT",
    `a client of kind ${view.kind} names what it wants: ${names}`,
  );
}

function decoded(
  bytes: Uint8Array,
  codec: SessionCodec<DiscoveryRequest>,
): DiscoveryRequest | { readonly refused: EndStatus } {
  try {
    // Whatever it claims to have, or to accept, is of no account: there is nothing to go on from.
    return { ...codec.decode(bytes), versionInfo: "", responseNonce: "" };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { refused: refused("INVALID_ARGUMENT", `not a valid request: ${error.message}`) };
  }
}

function refused(code: EndStatus["code"], message: string): EndStatus {
  return { code, message };
}
