/**
 * The names in a certificate, out of its own bytes (RFC 5280, section 4.2.1.6). The runtime gives them
 * as one text that a certificate can forge: a URI may hold `, DNS:` and so pass for a further name.
 * Nor may a name of one type pass for one of another: what says to be a DNS name is one, or is left out.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

/** The alternative names of a certificate, by type. */
export interface CertificateNames {
  /** With a scheme, as `spiffe://…`: none looks like a name of another type. */
  readonly uris: readonly string[];
  /** In lower case; of letters, digits, `-` and `_` between dots, where the first label may be `*`; never an IP address. */
  readonly dnsNames: readonly string[];
  /** As `net.isIP` takes them; IPv6 in full: `0:0:0:0:0:0:0:1`. */
  readonly addresses: readonly string[];
}

/** A DER value. */
interface Value {
  readonly tag: number;
  readonly content: Uint8Array;
}

const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;
/** `[3] EXPLICIT Extensions` of a TBSCertificate. */
const EXTENSIONS = 0xa3;
/** Tag and bytes of an object identifier: 2.5.29.17. */
const SUBJECT_ALT_NAME = "6,85,29,17";
/** 2.5.29.37. */
const EXTENDED_KEY_USAGE = "6,85,29,37";
/** What a certificate may be used for: 1.3.6.1.5.5.7.3.1 and .2, 2.5.29.37.0. */
const PURPOSES: Readonly<Record<string, string>> = {
  "6,43,6,1,5,5,7,3,1": "server",
  "6,43,6,1,5,5,7,3,2": "client",
  "6,85,29,37,0": "any",
};
const [DNS, URI, IP] = [0x82, 0x86, 0x87];

/**
 * Reads the alternative names of a certificate (DER). One that cannot be read has none; a name that is
 * not what its type says, as a DNS name `spiffe://…`, is left out. Whoever needs to know what a DNS name
 * is, asks here.
 */
export function certificateNames(certificate: Uint8Array): CertificateNames {
  const uris: string[] = [];
  const dnsNames: string[] = [];
  const addresses: string[] = [];
  for (const { tag, content } of extensionOf(certificate, SUBJECT_ALT_NAME)) {
    if (tag === URI && isUri(textOf(content))) uris.push(textOf(content));
    if (tag === DNS && isDnsName(textOf(content))) dnsNames.push(textOf(content).toLowerCase());
    if (tag === IP) addresses.push(addressOf(content));
  }
  return { uris, dnsNames, addresses };
}

/** Whether a certificate (DER) may be that of a server or of a client: one that limits its use to nothing may be both. */
export function isFor(certificate: Uint8Array, side: "server" | "client"): boolean {
  const purposes = extensionOf(certificate, EXTENDED_KEY_USAGE)
    .map(({ tag, content }) => PURPOSES[[tag, ...content].join()]);
  return purposes.length === 0 || purposes.includes(side) || purposes.includes("any");
}

/**
 * Whether the names include a host: an IP address, or a DNS name, of which the first label of the
 * certificate's may be `*` (RFC 9525, section 6.3).
 */
export function namesHost({ dnsNames, addresses }: CertificateNames, host: string): boolean {
  const address = canonicalAddress(host);
  if (address !== undefined) return addresses.includes(address);
  const wanted = host.toLowerCase().replace(/\.$/, "");
  const parent = /^[^.]+(\.[^.]+\..+)$/.exec(wanted)?.[1]; // of at least two labels
  return dnsNames.some((name) =>
    name === wanted || (name.startsWith("*.") && name.slice(1) === parent)
  );
}

/** The values in an extension that is a sequence; none where the certificate has it not. */
function extensionOf(certificate: Uint8Array, wanted: string): readonly Value[] {
  const [tbs] = children(children(certificate)[0]?.content);
  const extensions = children(tbs?.content).find(({ tag }) => tag === EXTENSIONS);
  for (const extension of children(children(extensions?.content)[0]?.content)) {
    const parts = children(extension.content);
    const [id, value] = [parts[0], parts.at(-1)];
    if (id === undefined || value?.tag !== OCTET_STRING) continue;
    if ([id.tag, ...id.content].join() !== wanted) continue;
    const [values] = children(value.content);
    return values?.tag === SEQUENCE ? children(values.content) : [];
  }
  return [];
}

/** The values that follow one another in `bytes`; none where they are no DER. */
function children(bytes: Uint8Array | undefined): readonly Value[] {
  const values: Value[] = [];
  for (let at = 0; bytes !== undefined && at < bytes.length;) {
    const tag = bytes[at]!;
    let length = bytes[at + 1] ?? Infinity;
    at += 2;
    if (length > 127) {
      const count = length & 127;
      if (count === 0 || count > 4) return [];
      length = bytes.subarray(at, at + count).reduce((sum, byte) => sum * 256 + byte, 0);
      at += count;
    }
    if (at + length > bytes.length) return [];
    values.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return values;
}

/** A URI with a scheme and more (RFC 5280 wants no other), without white space and control characters. */
function isUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z\d+.-]*:[\x21-\x7e]+$/.test(text);
}

/** A host name (RFC 1123), or `*.` before one. Where the last label is a number it is an address to others. */
function isDnsName(text: string): boolean {
  if (text.length > 253) return false;
  const labels = text.replace(/^\*\./, "").split(".");
  return labels.every((label) => /^\w(?:[\w-]{0,61}\w)?$/.test(label)) &&
    !/^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1)!);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const groups = Array.from({ length: bytes.length >> 1 }, (_, i) => view.getUint16(2 * i));
  return groups.map((group) => group.toString(16)).join(":");
}

function canonicalAddress(host: string): string | undefined {
  if (!ipaddr.isValid(host)) return undefined;
  const address = ipaddr.parse(host);
  return address.kind() === "ipv4"
    ? address.toString()
    : (address as ipaddr.IPv6).parts.map((part) => part.toString(16)).join(":");
}
