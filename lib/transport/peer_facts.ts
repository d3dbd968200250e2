/**
 * What is known of a peer, gathered for the rules of `peers`.
 *
 * @module
 */
import type { PeerFacts } from "../view/peer_rules.ts";
import type { Peer } from "./push_stream.ts";
import type { PeerIntroduction, ProtocolName } from "./session_info.ts";

/** Where what is known of a peer comes from. */
export interface FactSources {
  readonly protocol: ProtocolName;
  readonly peer: Peer;
  readonly introduction: PeerIntroduction | undefined;
  /** Name of the sink, where we dialled. */
  readonly sink: string | undefined;
  /** Type URL that an xDS client asked for first. */
  readonly firstType?: string | undefined;
}

/** What is known of a peer. */
export function factsOf({ protocol, peer, introduction, sink, firstType }: FactSources): PeerFacts {
  const { id = "", userAgent, annotations = {}, metadata = {} } = introduction ?? {};
  const { listener } = peer;
  return {
    protocol: protocol === "ads" || protocol === "ads-delta" ? "xds" : "mcp",
    id,
    annotations,
    metadata,
    identities: identitiesOf(peer),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(firstType === undefined ? {} : { firstType }),
    ...(listener === undefined ? {} : { listener }),
    ...(sink === undefined ? {} : { sink }),
  };
}

/** URIs, then DNS names of the peer's certificate; empty in plaintext. */
export function identitiesOf({ identity }: Peer): readonly string[] {
  return identity === undefined ? [] : [...identity.uris, ...identity.dnsNames];
}
