/**
 * The authorities that this machine trusts, out of the file in which its system keeps them. The runtime
 * would give them for a permission of its own, and only as they were when it started.
 *
 * @module
 */
import { readSmallFile, type SmallFile } from "./small_file.ts";
import { TlsFilesError } from "./tls_files.ts";

/** Where systems keep them: Debian and Alpine, Fedora, openSUSE, RHEL, BSD and macOS. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The largest file that is read. Bytes. */
const LARGEST = 8 * 1024 * 1024;

/**
 * The system's authorities, PEM: those that `SSL_CERT_FILE` names, else the system's own; undefined
 * where no file is known, and the runtime's count. Rejects with a {@link TlsFilesError} where
 * `SSL_CERT_FILE` cannot be read.
 */
export async function systemAuthorities(
  environment: (name: string) => string | undefined = Deno.env.get,
): Promise<string | undefined> {
  const named = environment("SSL_CERT_FILE");
  for (const path of named ? [named] : BUNDLES) {
    const read = await readBundle(path);
    if (read.ok) return read.text;
    if (named) {
      const hint = "unset it, or name a file with the authorities as PEM";
      throw new TlsFilesError(`SSL_CERT_FILE: ${path} ${read.reason}`, hint);
    }
  }
  return undefined;
}

/** A file that was read. */
interface Known {
  /** Of the file as it was: while it is the same, so is the text. */
  readonly mark: string;
  readonly read: SmallFile;
}

/** The last file read: it is large, seldom changed, and asked for at each attempt to dial. */
let last: Known | undefined;

/** A file that was changed so shortly before may change again without a trace. Milliseconds. */
const FRESH = 2000;

async function readBundle(path: string): Promise<SmallFile> {
  const before = await markOf(path);
  if (before !== undefined && before === last?.mark) return last.read;
  const read = await readSmallFile(path, LARGEST);
  if (read.ok) last = before === undefined ? undefined : { mark: before, read };
  return read;
}

/** What tells a file from itself after a change; undefined where nothing does. */
async function markOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtime } = await Deno.stat(path);
    if (mtime === null || Date.now() - mtime.getTime() < FRESH) return undefined;
    return JSON.stringify([path, ino, size, mtime.getTime()]);
  } catch {
    return undefined; // reading it says why
  }
}
