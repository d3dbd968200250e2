/**
 * TLS towards a server that we dial: the files read afresh for each attempt, so that what was rotated
 * is used by the next; and a handshake whose failure says what a person can do about it.
 *
 * @module
 */
import net, { type Socket } from "node:net";
import tls from "node:tls";
import type { ClientTlsSettings, TlsFiles } from "../model/settings.ts";
import { holdBack } from "./hold_back.ts";
import { certificateNames, isFor, namesHost } from "./identity.ts";
import { peerChain, staleIssuer, unknownIssuer } from "./peer_chain.ts";
import { systemAuthorities } from "./system_authorities.ts";
import {
  checkAuthorities,
  checkPair,
  dateOf,
  type OwnCertificate,
  readTlsFiles,
  TlsFilesError,
  type TlsMaterial,
} from "./tls_files.ts";
import { untilAborted } from "./until_aborted.ts";

/** What a handshake needs. Contents are PEM. */
export interface ClientTlsMaterial extends TlsMaterial {
  /** Whom the server's certificate must name: a DNS name or an IP address. */
  readonly serverName: string;
  /** Whom this machine trusts; counts where there is no `ca`. Absent: whom the runtime does. */
  readonly system?: string;
}

/** The handshake failed. The message says what is in the way. */
export class ClientTlsError extends Error {
  override readonly name = "ClientTlsError";
}

/** How often files that do not fit each other are read: they may be about to be replaced. */
const ATTEMPTS = 3;

/** How long after the last time. Milliseconds. */
const APART = 50;

/** What a certificate without the right name is called by {@link whyUnauthorized}. */
const WRONG_NAME = "wrong name";

/** So many names of a certificate are told. */
const MOST_NAMES = 8;

/**
 * Reads the files (absolute paths) for a handshake with `host`. Rejects with a {@link TlsFilesError}
 * where they cannot be used, an expired certificate of ours included, or with the signal's reason.
 */
export async function readClientTls(
  { files, serverName }: ClientTlsSettings,
  host: string,
  signal: AbortSignal,
): Promise<ClientTlsMaterial> {
  const { material, own } = await readClientFiles(files, signal);
  if (own !== undefined && own.notAfter < Date.now()) {
    const message = `our certificate ${own.subject} expired on ${dateOf(own.notAfter)}`;
    throw new TlsFilesError(message, "renew it");
  }
  const system = material.ca === undefined ? await systemAuthorities() : undefined;
  return {
    ...material,
    serverName: serverName ?? host,
    ...(system === undefined ? {} : { system }),
  };
}

/**
 * Reads the files (absolute paths) and checks that they fit each other; again in a moment where they do
 * not. `own` is our certificate, be it expired, where there is one. Rejects with a
 * {@link TlsFilesError}, or with the signal's reason.
 */
export async function readClientFiles(
  files: TlsFiles,
  signal: AbortSignal,
): Promise<{ readonly material: TlsMaterial; readonly own: OwnCertificate | undefined }> {
  for (let attempt = 1;; attempt++) {
    try {
      const material = await readTlsFiles(files);
      const own = checkPair(material, files);
      checkAuthorities(material, files);
      return { material, own };
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await untilAborted(new Promise((resolve) => setTimeout(resolve, APART)), signal);
    }
  }
}

/**
 * Makes a connection secure; the server must prove to be `serverName`. Rejects with a
 * {@link ClientTlsError} or with the signal's reason; then the socket is destroyed.
 */
export async function secureClient(
  socket: Socket,
  material: ClientTlsMaterial,
  signal: AbortSignal,
): Promise<Socket> {
  const { cert, key, serverName } = material;
  const ca = material.ca ?? material.system;
  const before = socket.bytesRead; // of a proxy
  const own = cert === undefined || key === undefined ? {} : { cert, key };
  const secured = tls.connect({
    socket,
    ...own,
    ...(ca === undefined ? {} : { ca }),
    // An IP address is not told to the server, but its certificate must name it all the same.
    ...(net.isIP(serverName) === 0 ? { servername: serverName } : {}),
    host: serverName,
    ALPNProtocols: ["h2"],
    minVersion: "TLSv1.2",
    rejectUnauthorized: false, // so that we can say why
    checkServerIdentity: (_host, { raw }) =>
      namesHost(certificateNames(raw), serverName) ? undefined : new Error(WRONG_NAME),
  });
  try {
    await untilAborted(handshake(secured), signal);
    if (!secured.authorized) throw new ClientTlsError(whyUnauthorized(secured, material));
    holdBack(secured, socket);
    return secured;
  } catch (error) {
    secured.destroy();
    socket.destroy();
    if (signal.aborted || error instanceof ClientTlsError) throw error;
    const silent = isReset(error) && socket.bytesRead === before;
    const reason = silent
      ? `${CLOSED}; it may not speak TLS, or have no room`
      : explainTls(error, material);
    throw new ClientTlsError(reason, { cause: error });
  }
}

/** What an error of a secured connection means; some servers refuse us only after the handshake. */
export function explainTls(error: unknown, { cert, serverName }: ClientTlsMaterial): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const alert = /received fatal alert: (\w+)/.exec(message)?.[1];
  if (alert !== undefined) return explainAlert(alert, cert !== undefined, serverName);
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "the server does not speak TLS";
  if (isReset(error)) {
    return cert === undefined
      ? `${CLOSED}; it may want a client certificate`
      : `${CLOSED}; it may not accept our certificate`;
  }
  return `the TLS handshake failed: ${message}`;
}

const CLOSED = "the server closed the connection during the TLS handshake";

function isReset(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ECONNRESET";
}

function explainAlert(alert: string, ownShown: boolean, serverName: string): string {
  switch (alert) {
    case "CertificateRequired":
    case "BadCertificate":
    case "CertificateExpired":
    case "CertificateRevoked":
    case "CertificateUnknown":
    case "UnknownCA":
    case "UnsupportedCertificate":
    case "AccessDenied":
      return ownShown
        ? `the server does not accept our certificate (${alert})`
        : "the server wants a client certificate, and none is configured";
    case "HandshakeFailure":
      return ownShown
        ? "the server refused the TLS handshake"
        : "the server refused the TLS handshake; it may want a client certificate";
    case "NoApplicationProtocol":
      return "the server speaks TLS, but not HTTP/2";
    case "ProtocolVersion":
      return "the server speaks neither TLS 1.2 nor 1.3";
    case "UnrecognisedName":
      return `the server has no certificate for ${serverName}`;
    default:
      return `the server broke the TLS handshake off (${alert})`;
  }
}

function handshake(secured: tls.TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    secured.once("secureConnect", resolve);
    secured.on("error", reject); // stays: an error that comes later would be uncaught
    secured.once("close", () => {
      reject(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    });
  });
}

function whyUnauthorized(secured: tls.TLSSocket, { ca, serverName }: ClientTlsMaterial): string {
  const { raw, valid_from, valid_to } = secured.getPeerCertificate();
  if (String(secured.authorizationError).includes(WRONG_NAME)) {
    const { dnsNames, addresses, uris } = certificateNames(raw);
    const names = [...dnsNames, ...addresses, ...uris].slice(0, MOST_NAMES).join(", ") || "nobody";
    return `the server's certificate is for ${names}, not for ${serverName}`;
  }
  const [from, to] = [Date.parse(valid_from), Date.parse(valid_to)];
  if (to < Date.now()) return `the server's certificate expired on ${dateOf(to)}`;
  if (from > Date.now()) return `the server's certificate is not valid before ${dateOf(from)}`;
  if (!isFor(raw, "server")) {
    return "the server's certificate is none for servers: its extended key usage has no serverAuth";
  }
  const chain = peerChain(secured);
  const stale = staleIssuer(chain, Date.now());
  if (stale !== undefined) return `the server's certificate does not count: ${stale}`;
  const by = unknownIssuer(chain, "server");
  return ca === undefined
    ? `the server's certificate is signed by an authority that this system does not know${by}; give it as ca`
    : `the server's certificate is signed by an authority that is not among ca${by}`;
}
