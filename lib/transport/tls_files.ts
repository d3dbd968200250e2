/**
 * The files of a TLS identity: read, bounded and checked, so that what does not fit is said in words
 * instead of by a handshake that fails. What they hold is read afresh whenever it is needed.
 *
 * @module
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { join } from "node:path";
import tls from "node:tls";
import type { TlsFiles } from "../model/settings.ts";
import { certificateNames, isFor } from "./identity.ts";
import { readSmallFile } from "./small_file.ts";

/** Contents of the files, PEM. Each is absent where no such file is configured, or the folder has none. */
export interface TlsMaterial {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
}

/** What is wrong with the files, and what would be right. */
export class TlsFilesError extends Error {
  override readonly name = "TlsFilesError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** The largest file that is read. Bytes. */
const LARGEST = 1024 * 1024;

/** The paths of the files. Those of a folder have the names that Kubernetes and cert-manager give them. */
export function tlsPaths(files: TlsFiles): { cert?: string; key?: string; ca?: string } {
  if (files.kind === "files") {
    const { cert, key, ca } = files;
    return {
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(ca === undefined ? {} : { ca }),
    };
  }
  const { folder } = files;
  return {
    cert: join(folder, "tls.crt"),
    key: join(folder, "tls.key"),
    ca: join(folder, "ca.crt"),
  };
}

/**
 * Reads the files of absolute paths. In a folder each may be missing, a file named by itself may not.
 * Rejects with a {@link TlsFilesError}.
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsMaterial> {
  const material: { cert?: string; key?: string; ca?: string } = {};
  if (files.kind === "folder") await needFolder(files.folder);
  for (const [name, path] of Object.entries(tlsPaths(files)) as ["cert" | "key" | "ca", string][]) {
    const read = await readSmallFile(path, LARGEST);
    if (read.ok) material[name] = read.text;
    else if (!read.missing || files.kind === "files") {
      throw new TlsFilesError(`${path} ${read.reason}`, "it must hold PEM that we may read");
    }
  }
  return material;
}

async function needFolder(folder: string): Promise<void> {
  let why = "is not a folder";
  try {
    if ((await Deno.stat(folder)).isDirectory) return;
  } catch (error) {
    why = error instanceof Deno.errors.NotFound ? "does not exist" : "cannot be read";
  }
  throw new TlsFilesError(`${folder} ${why}`, "a folder with tls.crt, tls.key and ca.crt is meant");
}

/** Our own certificate. */
export interface OwnCertificate {
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Whether certificate and key go together and are what they should be. Gives what there is to know of
 * the certificate, or undefined where there is neither it nor a key. Throws a {@link TlsFilesError}.
 */
export function checkPair({ cert, key }: TlsMaterial, files: TlsFiles): OwnCertificate | undefined {
  if (cert === undefined && key === undefined) return undefined;
  const paths = tlsPaths(files);
  if (cert === undefined) throw onlyOne(`the key ${paths.key}`, "certificate");
  if (key === undefined) throw onlyOne(`the certificate ${paths.cert}`, "key");
  const certificate = certificatesOf(cert, paths.cert!)[0]!;
  const privateKey = privateKeyOf(key, paths.key!);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsFilesError(
      `the key ${paths.key} is not that of the certificate ${paths.cert}`,
      "replace both together; the certificate itself comes first in its file, then its issuers",
    );
  }
  checkStrength(privateKey, { cert, key }, paths.key!);
  return {
    subject: nameOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  };
}

/** The smallest RSA key that TLS takes. Bits. */
const SMALLEST_RSA = 2048;

/** Tries whether the runtime takes them; what it takes amiss would be known at the first handshake only. */
function checkStrength(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  pair: Required<Pick<TlsMaterial, "cert" | "key">>,
  path: string,
): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? SMALLEST_RSA;
  if (asymmetricKeyType === "rsa" && bits < SMALLEST_RSA) {
    const hint = `RSA takes ${SMALLEST_RSA} bits at least; EC P-256 will do too`;
    throw new TlsFilesError(`the key ${path} is too weak: RSA of ${bits} bits`, hint);
  }
  try {
    tls.createSecureContext(pair);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = "use RSA of 2048 bits or more, or EC P-256 or P-384";
    throw new TlsFilesError(`the key ${path} and its certificate are no use: ${why}`, hint);
  }
}

/** Whether our certificate may be a server's. Throws a {@link TlsFilesError}. */
export function checkServerUse({ cert }: TlsMaterial, files: TlsFiles): void {
  const path = tlsPaths(files).cert!;
  if (cert === undefined || isFor(certificatesOf(cert, path)[0]!.raw, "server")) return;
  throw new TlsFilesError(
    `the certificate ${path} is none for servers: its extended key usage has no serverAuth`,
    "have one issued that has serverAuth; clients refuse any other",
  );
}

/** Whether the authorities are certificates, and one at least that of an authority. Throws a {@link TlsFilesError}. */
export function checkAuthorities({ ca }: TlsMaterial, files: TlsFiles): void {
  if (ca === undefined) return;
  const path = tlsPaths(files).ca!;
  const certificates = certificatesOf(ca, path);
  if (certificates.some((one) => one.ca || one.checkIssued(one))) return;
  throw new TlsFilesError(
    `${path} holds no authority: ${nameOf(certificates[0]!)} may not issue certificates`,
    "it must hold the certificate of the authority that issued, not one that was issued",
  );
}

/** What makes all authorities unfit at that time, to go on after the file's name; undefined: one at least is fit. */
export function authoritiesFault({ ca = "" }: TlsMaterial, now: number): string | undefined {
  let fault: string | undefined;
  for (const { validFrom, validTo } of pemCertificates(ca)) {
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    if (from <= now && now <= to) return undefined;
    fault = to < now
      ? `holds no authority that is still valid; one expired on ${dateOf(to)}`
      : `holds no authority that is valid yet; one will be on ${dateOf(from)}`;
  }
  return fault;
}

/**
 * Who issued the last certificate of our chain, where neither that chain nor `ca` has it: clients may lack
 * it too. Undefined where they do not, or there is no `ca` to tell by.
 */
export function missingIssuer({ cert = "", ca }: TlsMaterial): string | undefined {
  if (ca === undefined) return undefined;
  const last = pemCertificates(cert).at(-1);
  const known = last === undefined || last.checkIssued(last) ||
    pemCertificates(ca).some((one) =>
      last.checkIssued(one) || last.fingerprint256 === one.fingerprint256
    );
  return known ? undefined : last.issuer.replaceAll("\n", ", ");
}

/** The time as people write it, to the second. */
export function dateOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

function onlyOne(there: string, missing: string): TlsFilesError {
  return new TlsFilesError(`there is ${there}, but no ${missing}`, `add the ${missing}`);
}

/** The certificates in a text; what is between them is skipped. Throws where one cannot be read. */
export function pemCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

function certificatesOf(pem: string, path: string): readonly X509Certificate[] {
  const hint = "it must hold certificates as PEM, from BEGIN CERTIFICATE to END CERTIFICATE";
  let certificates: readonly X509Certificate[];
  try {
    certificates = pemCertificates(pem);
  } catch {
    throw new TlsFilesError(`${path} holds a certificate that cannot be read`, hint);
  }
  if (certificates.length === 0) throw new TlsFilesError(`${path} holds no certificate`, hint);
  return certificates;
}

const KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]*-----END \1-----/;

function privateKeyOf(pem: string, path: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) {
    throw new TlsFilesError(`the key ${path} is encrypted`, "a key without a passphrase is needed");
  }
  try {
    // Parameters of a curve, or the certificate, may come before it.
    return createPrivateKey(KEY.exec(pem)?.[0] ?? pem);
  } catch {
    throw new TlsFilesError(
      `${path} holds no private key that can be read`,
      "it must hold one as PEM: PKCS#8 (BEGIN PRIVATE KEY), BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY",
    );
  }
}

/** Its first URI or DNS name, else its subject. */
function nameOf(certificate: X509Certificate): string {
  const { uris, dnsNames } = certificateNames(certificate.raw);
  return uris[0] ?? dnsNames[0] ?? certificate.subject ?? "";
}
