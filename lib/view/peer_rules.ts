/**
 * Which rule of `peers` is for a peer, and what kind of client it is.
 *
 * @module
 */
import { fitsIdentity } from "../model/identity_pattern.ts";
import { matchesPattern } from "../model/pattern.ts";
import type { ClientKind, PeerMatch, PeerRule } from "../model/settings.ts";
import { xdsTypeByUrl } from "../model/xds_type.ts";

/** What is known of a peer. */
export interface PeerFacts {
  readonly protocol: "mcp" | "xds";
  /** Node id, as the peer says; empty where it says none. */
  readonly id: string;
  /** For example `envoy` or `gRPC Go`, as the peer says. */
  readonly userAgent?: string;
  /** Type URL that an xDS client asked for first. */
  readonly firstType?: string;
  /** Of an MCP sink's node. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Top-level texts of an xDS node's metadata. */
  readonly metadata: Readonly<Record<string, string>>;
  /** URIs and DNS names of its certificate; empty in plaintext. */
  readonly identities: readonly string[];
  /** `listen` address that it dialled, as configured. */
  readonly listener?: string;
  /** Name of the sink, where we dialled. */
  readonly sink?: string;
}

/** The first rule of which all that is given matches. */
export function ruleFor(rules: readonly PeerRule[], peer: PeerFacts): PeerRule | undefined {
  return rules.find(({ match }) => matches(match, peer));
}

/**
 * What kind of client a peer is: as its rule says, else as it says of itself, else as what it asks for
 * first tells: clusters, endpoints, listeners and routes are for an Envoy, or for a Dubbo application,
 * whose node is that of a sidecar without a user agent; everything else is for Istio.
 */
export function clientKind(rule: PeerRule | undefined, peer: PeerFacts): ClientKind {
  if (rule?.as !== undefined) return rule.as;
  const { protocol, id, metadata, userAgent = "", firstType } = peer;
  // Only an istiod asks for Istio's own objects; its node is that of any sidecar otherwise.
  if (protocol === "mcp" || textOf(metadata, "GENERATOR") === "api") return "istio";
  if (userAgent.startsWith("gRPC")) return "grpc";
  if (userAgent === "envoy") return "envoy";
  if (firstType === undefined || xdsTypeByUrl(firstType) === undefined) return "istio";
  return userAgent === "" && id.startsWith("sidecar~") ? "dubbo" : "envoy";
}

function matches(match: PeerMatch, peer: PeerFacts): boolean {
  return matchesText(match.id, peer.id) &&
    matchesTexts(match.annotations, peer.annotations) &&
    matchesTexts(match.metadata, peer.metadata) &&
    matchesIdentity(match.identity, peer.identities) &&
    matchesText(match.listener, peer.listener) &&
    matchesText(match.sink, peer.sink);
}

/** Whether the text fits; what a peer does not have fits no pattern. */
function matchesText(pattern: string | undefined, text: string | undefined): boolean {
  if (pattern === undefined) return true;
  return text !== undefined && matchesPattern(pattern, text);
}

function matchesIdentity(pattern: string | undefined, names: readonly string[]): boolean {
  return pattern === undefined || names.some((name) => fitsIdentity(pattern, name));
}

function matchesTexts(
  patterns: Readonly<Record<string, string>> | undefined,
  texts: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(patterns ?? {}).every(([key, pattern]) =>
    matchesText(pattern, textOf(texts, key))
  );
}

function textOf(texts: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
}
