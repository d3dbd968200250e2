/**
 * The certificates that the other end of a TLS connection showed.
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { dateOf } from "./tls_files.ts";

/** How many certificates are looked at. */
const LONGEST_CHAIN = 8;

/** The peer's certificate, then those that came with it and, as far as they are known, their issuers; empty where it showed none. */
export function peerChain(secured: TLSSocket): readonly X509Certificate[] {
  const certificates: X509Certificate[] = [];
  let link: DetailedPeerCertificate | undefined = secured.getPeerCertificate(true);
  while (link?.raw !== undefined && certificates.length < LONGEST_CHAIN) {
    certificates.push(new X509Certificate(link.raw));
    link = link.issuerCertificate === link ? undefined : link.issuerCertificate;
  }
  return certificates;
}

/**
 * Who issued the last certificate of a chain, and what its owner may have to do, to go on after "signed
 * by an authority that is not known". Empty where nothing is known of it.
 */
export function unknownIssuer(chain: readonly X509Certificate[], sender: string): string {
  const last = chain.at(-1);
  if (last === undefined) return "";
  const issuer = commonName(last.issuer);
  const alone = chain.length === 1 && !last.checkIssued(last);
  const hint = `; if that is an intermediate one, the ${sender} must send its certificate too`;
  return ` (${issuer})${alone ? hint : ""}`;
}

/** Which issuer in a chain is out of date (milliseconds since the epoch), as a sentence; undefined where none is. */
export function staleIssuer(chain: readonly X509Certificate[], now: number): string | undefined {
  for (const { subject, validFrom, validTo } of chain.slice(1)) {
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    if (to < now) {
      return `the certificate of its issuer ${commonName(subject)} expired on ${dateOf(to)}`;
    }
    if (from > now) {
      return `the certificate of its issuer ${commonName(subject)} is not valid before ${
        dateOf(from)
      }`;
    }
  }
  return undefined;
}

function commonName(of: string): string {
  return /^CN=(.+)$/m.exec(of)?.[1] ?? of.replaceAll("\n", ", ");
}
