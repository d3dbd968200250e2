/**
 * Who a source is that dials our ResourceSink, and what it may fill: by its certificate, else by its
 * token, else, where nothing need be proved, by what it says of itself.
 *
 * @module
 */
import { isIP } from "node:net";
import { fitsSource } from "../model/identity_pattern.ts";
import { INSTANCE_HEADER } from "../model/instance_header.ts";
import type { SourceRule } from "../model/settings.ts";
import type { PushStream } from "./push_stream.ts";
import type { TokenIndex } from "./token_index.ts";

export { INSTANCE_HEADER };

/**
 * The header in which a Pinnace that dials out says (`1`) that it heeds `initial_resource_versions`. Any
 * source can have a name; only who heeds these may be asked for a difference from what is held.
 */
export const RESUMES_HEADER = "x-pinnace-resumes";

/** What a source is named by. The first three are proved. */
export type NamedBy = "uri" | "dns" | "token" | "instance" | "address";

/** How sources are named. */
export interface NamingOptions {
  /** The tokens that sources bear. Asked at each stream, since tokens change. */
  readonly tokens: () => TokenIndex;
  /** Whether a source may come without certificate and token: over plaintext, or because that is meant. */
  readonly unproven: boolean;
  /** The first that matches counts; empty: every source may fill everything. */
  readonly from: readonly SourceRule[];
}

/** What came of naming a source. */
export type SourceNaming =
  | {
    readonly kind: "named";
    readonly name: string;
    readonly by: NamedBy;
    /** What it says of itself, whatever it is named by. */
    readonly instance?: string;
    /** Whether it heeds `initial_resource_versions`, as it says. */
    readonly resumes: boolean;
    /** Patterns of namespaces that it may fill; empty: all. */
    readonly namespaces: readonly string[];
  }
  | {
    readonly kind: "denied";
    readonly code: "UNAUTHENTICATED" | "PERMISSION_DENIED";
    /** For the person who runs the source. */
    readonly message: string;
  };

/** Whether a name is proved, so that nobody else can take it. */
export function isProven(by: NamedBy): boolean {
  return by === "uri" || by === "dns" || by === "token";
}

/** Names the source behind a stream, or says why it may not come. */
export function nameSource(
  stream: Pick<PushStream, "peer" | "metadata">,
  options: NamingOptions,
): SourceNaming {
  const instance = stream.metadata[INSTANCE_HEADER]?.[0];
  const tokens = options.tokens();
  const wrong = instance === undefined ? undefined : wrongInstance(instance, tokens);
  const found = proved(stream, tokens) ?? unproved(stream, instance, wrong, options);
  if ("kind" in found) return found;
  const namespaces = allowedNamespaces(found, options.from);
  if (namespaces === undefined) {
    return denied("PERMISSION_DENIED", `${found.name}: ${NOT_AMONG}`);
  }
  const said = instance === undefined || wrong !== undefined ? {} : { instance };
  const resumes = stream.metadata[RESUMES_HEADER]?.[0] === "1";
  return { kind: "named", ...found, ...said, resumes, namespaces };
}

/** Namespaces that the first rule for this source gives; undefined: no rule is for it. */
export function allowedNamespaces(
  { name, by }: { readonly name: string; readonly by: NamedBy },
  from: readonly SourceRule[],
): readonly string[] | undefined {
  if (from.length === 0) return [];
  return from.find(({ source }) => fitsSource(source, name, by))?.namespaces;
}

interface Name {
  readonly name: string;
  readonly by: NamedBy;
}

type Denied = Extract<SourceNaming, { kind: "denied" }>;

const NOT_AMONG =
  "a source of this name may not dial here; the receiver's setting receive.from decides which may";

const NOBODY = "this receiver takes sources with a client certificate or a token " +
  "(authorization: Bearer …), and neither came";

function proved(
  { peer, metadata }: Pick<PushStream, "peer" | "metadata">,
  tokens: TokenIndex,
): Name | Denied | undefined {
  const { uris, dnsNames } = peer.identity ?? { uris: [], dnsNames: [] };
  const uri = uris.find((one) => one.startsWith("spiffe://"));
  if (uri !== undefined) return named(uri, "uri");
  if (dnsNames[0] !== undefined) return named(dnsNames[0], "dns");
  const token = bearer(metadata["authorization"]?.[0]);
  // Where no token is known, one that comes along (a proxy's, say) proves nothing and harms nothing.
  if (token === undefined || tokens.isEmpty) return undefined;
  const owner = tokens.ownerOf(token);
  if (owner !== undefined) return { name: owner, by: "token" };
  return denied("UNAUTHENTICATED", "this receiver knows no source with this token");
}

/** A name out of a certificate, unless it would garble whatever shows it. */
function named(name: string, by: NamedBy): Name | Denied {
  if (name.length <= LONGEST_CERTIFIED && PRINTABLE.test(name)) return { name, by };
  return denied("PERMISSION_DENIED", "the client certificate's name is no printable text");
}

/** The longest SPIFFE id. Characters. */
const LONGEST_CERTIFIED = 2048;

const PRINTABLE = /^[\x21-\x7e]+$/;

function unproved(
  { peer }: Pick<PushStream, "peer">,
  instance: string | undefined,
  wrong: string | undefined,
  { unproven }: NamingOptions,
): Name | Denied {
  if (!unproven) return denied("UNAUTHENTICATED", NOBODY);
  if (instance === undefined) {
    return { name: peer.address.replace(/^::ffff:(?=\d+\.)/i, ""), by: "address" };
  }
  if (wrong !== undefined) return denied("PERMISSION_DENIED", `${INSTANCE_HEADER} ${wrong}`);
  return { name: instance, by: "instance" };
}

/** What is wrong with an instance that a source says: it must not be confused with a name that is proved. */
function wrongInstance(
  instance: string,
  tokens: TokenIndex,
): string | undefined {
  if (instance.includes("://")) return "must not look like the URI of a certificate";
  if (instance.length > 253 || !/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/.test(instance)) {
    return "must be at most 253 letters, digits, and -_. in between";
  }
  if (isIP(instance) !== 0) return "must not look like an address";
  return tokens.has(instance) ? "is the name of a token, and the token did not come" : undefined;
}

function bearer(header: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];
}

function denied(code: Denied["code"], message: string): Denied {
  return { kind: "denied", code, message };
}
