/**
 * The server's side of one TLS handshake: who is the client, and may it come in?
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import tls from "node:tls";
import { fitsIdentity } from "../model/identity_pattern.ts";
import { farewell } from "./farewell.ts";
import type { PeerIdentity } from "./gate.ts";
import { holdBack } from "./hold_back.ts";
import { certificateNames, isFor } from "./identity.ts";
import type { Secured } from "./listener.ts";
import { peerChain, staleIssuer, unknownIssuer } from "./peer_chain.ts";
import { dateOf, pemCertificates, type TlsMaterial } from "./tls_files.ts";

/** Which clients may come in. */
export interface ClientPolicy {
  /** Counts only with a `ca`. */
  readonly certificate: "require" | "request";
  /** Patterns of URIs and of DNS names, as {@link fitsIdentity} tells them apart; empty: all that the `ca` vouches for. */
  readonly allow: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A client was turned away. The message says who and why. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
  readonly reason: "handshake" | "allow";

  constructor(reason: "handshake" | "allow", message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A client closed the connection without a word: a health probe more often than not. */
export class ClientLeftError extends Error {
  override readonly name = "ClientLeftError";
}

/** What may be said to a client whose own handshake succeeded, and in our log. */
interface Verdict {
  readonly reason: "handshake" | "allow";
  /** For our log: names included. */
  readonly message: string;
  /** For the client. */
  readonly said: string;
}

/**
 * Makes a connection secure. Rejects with a {@link HandshakeError} or {@link ClientLeftError}; then the
 * socket is destroyed. A client whose certificate is at fault is told so by GOAWAY, for HTTP/2 has words where TLS has none.
 */
export async function shakeHands(
  socket: Socket,
  material: TlsMaterial,
  policy: ClientPolicy,
): Promise<Secured> {
  const secured = await handshake(socket, material);
  const verdict = material.ca === undefined ? {} : judge(secured, material.ca, policy);
  if (!("reason" in verdict)) return { socket: secured, ...verdict };
  await farewell(secured, verdict.said);
  secured.destroy();
  socket.destroy();
  throw new HandshakeError(verdict.reason, verdict.message);
}

function handshake(socket: Socket, { cert, key, ca }: TlsMaterial): Promise<tls.TLSSocket> {
  // A server of its own for each connection: its events are then this connection's.
  const server = tls.createServer({
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
    requestCert: ca !== undefined,
    rejectUnauthorized: false, // so that we can say why
    ALPNProtocols: ["h2"],
    minVersion: "TLSv1.2",
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      socket.destroy();
      const left = socket.bytesRead === 0;
      reject(left ? new ClientLeftError(why) : new HandshakeError("handshake", why));
    };
    server.once("secureConnection", (secured) => {
      secured.on("error", () => {}); // "close" follows; uncaught it would end the process
      holdBack(secured, socket);
      resolve(secured);
    });
    server.on("tlsClientError", (error, secured) => {
      secured.destroy();
      fail(explain(error));
    });
    socket.once("close", () => fail("the client closed the connection during the handshake"));
    server.emit("connection", socket);
  });
}

function judge(
  secured: tls.TLSSocket,
  ca: string,
  policy: ClientPolicy,
): Verdict | { readonly identity?: PeerIdentity } {
  const { raw } = secured.getPeerCertificate() as { raw?: Uint8Array };
  if (raw === undefined || raw.length === 0) return withoutCertificate(policy);
  const certificate = new X509Certificate(raw);
  const { uris, dnsNames } = certificateNames(raw);
  const who = [...uris, ...dnsNames].join(", ") || `${certificate.subject}`.replaceAll("\n", ", ");
  const fault = faultOf(secured, certificate, ca, policy.now());
  if (fault !== undefined) {
    const message = `the client's certificate (${who}) ${fault}`;
    return { reason: "handshake", message, said: `your certificate ${fault}` };
  }
  const allowed = [...uris, ...dnsNames].some((name) =>
    policy.allow.some((pattern) => fitsIdentity(pattern, name))
  );
  if (policy.allow.length > 0 && !allowed) {
    return {
      reason: "allow",
      message: `${who} is none of those allowed`,
      said: "none of your certificate's names may connect here",
    };
  }
  return { identity: { uris, dnsNames } };
}

function withoutCertificate({ certificate, allow }: ClientPolicy): Verdict | Record<never, never> {
  if (certificate === "request" && allow.length === 0) return {};
  const said = "a client certificate is needed here";
  return { reason: "handshake", message: "the client showed no certificate", said };
}

/** What is wrong with a client's certificate, to go on after its name. */
function faultOf(
  secured: tls.TLSSocket,
  certificate: X509Certificate,
  ca: string,
  now: number,
): string | undefined {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (!(to >= now)) return `expired on ${dateOf(to)}`;
  if (!(from <= now)) return `is not valid before ${dateOf(from)}`;
  // The runtime keeps sessions beyond a change of certificates, and then asks for none again.
  const vouched = secured.authorized &&
    (!secured.isSessionReused() || isVouchedFor(secured, ca, now));
  if (vouched) return undefined;
  if (!isFor(certificate.raw, "client")) {
    return "is none for clients: its extended key usage has no clientAuth";
  }
  const chain = peerChain(secured);
  const stale = staleIssuer(chain, now);
  if (stale !== undefined) return `does not count: ${stale}`;
  const issuer = unknownIssuer(chain, "client");
  return `is not signed by an authority that is trusted here${issuer}`;
}

/**
 * Whether the authorities in use now vouch for a client whose session is an older one. What it sent
 * with its certificate may come in any order, and its certificate twice, as in a full handshake.
 */
function isVouchedFor(secured: tls.TLSSocket, ca: string, now: number): boolean {
  const authorities = pemCertificates(ca);
  const [own, ...others] = peerChain(secured);
  const unreached = new Set(others.filter((one) => isValid(one, now)));
  const reached = own === undefined ? [] : [own];
  for (const certificate of reached) {
    if (authorities.some((authority) => isIssuedBy(certificate, authority))) return true;
    for (const one of unreached) {
      if (isIssuedBy(certificate, one) && unreached.delete(one)) reached.push(one);
    }
  }
  return false;
}

function isValid({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

/** A certificate that signs itself may be trusted as what it is, though it is no authority. */
function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  const may = authority.ca || authority.fingerprint256 === certificate.fingerprint256;
  return may && certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey);
}

function explain(error: NodeJS.ErrnoException): string {
  const alert = /received fatal alert: (\w+)/.exec(error.message)?.[1];
  if (alert !== undefined) return `the client does not accept our certificate or offer (${alert})`;
  if (error.code === "ERR_SSL_WRONG_VERSION_NUMBER") return "the client does not speak TLS";
  if (error.code === "ECONNRESET") return "the client closed the connection during the handshake";
  return error.message;
}
