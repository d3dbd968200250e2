/**
 * TLS for a listener: certificate, key and the authorities of clients out of files, which may be
 * replaced at any time. New handshakes use the new ones, open streams stay, and what does not fit
 * leaves the last good ones in use.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { TlsFiles } from "../model/settings.ts";
import { systemClock } from "../rollout/clock.ts";
import { ContentWatch } from "./content_watch.ts";
import type { Secured } from "./listener.ts";
import { type ClientPolicy, shakeHands } from "./server_handshake.ts";
import {
  authoritiesFault,
  checkAuthorities,
  checkPair,
  checkServerUse,
  dateOf,
  missingIssuer,
  type OwnCertificate,
  readTlsFiles,
  TlsFilesError,
  type TlsMaterial,
  tlsPaths,
} from "./tls_files.ts";

/** What is wrong with the files, for a person. `error`: they cannot be used; `warning`: not for long. */
export interface TlsProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint: string;
}

/** How a listener is made secure. */
export interface TlsServerOptions {
  /** Absolute paths. With a `ca`, clients are asked for a certificate. */
  readonly files: TlsFiles;
  /** Whether clients must show a certificate (default), or may do without; one that does not verify is refused either way. Only with a `ca`. */
  readonly certificate?: "require" | "request";
  /** Patterns of URIs and DNS names, of which a client's certificate must have one; empty or absent: any that `ca` vouches for. */
  readonly allow?: readonly string[];
  /** How often the files are compared. Milliseconds; default 2 s. */
  readonly poll?: number;
  /** How long files may not fit each other until that is a problem: they are replaced one by one. Milliseconds; default 1 s. */
  readonly settle?: number;
  /** Told when what is wrong with the files changes; undefined: nothing is any more. Must not throw. */
  readonly onProblem?: (problem: TlsProblem | undefined) => void;
  /** Told when new files are in use. Must not throw. */
  readonly onRotated?: (certificate: OwnCertificate) => void;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly wallClock?: () => number;
}

/** What a listener shows, for status. */
export interface TlsServerStatus extends OwnCertificate {
  /** Whether clients show certificates. */
  readonly clients: "none" | "request" | "require";
  readonly problem?: TlsProblem;
}

/** What handshakes use from now on. */
interface InUse {
  readonly material: Required<Pick<TlsMaterial, "cert" | "key">> & TlsMaterial;
  readonly own: OwnCertificate;
}

/** How often files are compared. Milliseconds. */
const POLL = 2000;

/** How long files may not fit each other. Milliseconds. */
const SETTLE = 1000;

/** A certificate that expires within this time is worth a warning. Milliseconds: 7 days. */
export const EXPIRES_SOON = 7 * 24 * 3_600_000;

/** Secures the connections of a listener. Disposing it ends watching; open connections stay. */
export class TlsServer implements AsyncDisposable {
  readonly #options: TlsServerOptions;
  readonly #watch: ContentWatch;
  #inUse: InUse;
  readonly #closing = new AbortController();
  #broken: TlsProblem | undefined;
  #problem: TlsProblem | undefined;

  private constructor(options: TlsServerOptions, inUse: InUse) {
    this.#options = options;
    this.#inUse = inUse;
    this.#tell();
    this.#watch = new ContentWatch({
      poll: options.poll ?? POLL,
      look: () => this.#look(),
    });
  }

  /** Reads the files, once, and watches them. Rejects with a {@link TlsFilesError} where there is nothing good to begin with. */
  static async open(options: TlsServerOptions): Promise<TlsServer> {
    const material = await readTlsFiles(options.files);
    const inUse = usable(material, options);
    return new TlsServer(options, inUse);
  }

  /** For `ListenOptions.secure`. Rejects with a HandshakeError that says who was refused and why. */
  readonly secure = (socket: Socket): Promise<Secured> =>
    shakeHands(socket, this.#inUse.material, this.#policy());

  /** Looks at the files now. Resolves when they are in use, or {@link TlsServer.status} says why not. */
  reload(): Promise<void> {
    return this.#watch.look();
  }

  /** What is shown to clients now. */
  status(): TlsServerStatus {
    const { own, material } = this.#inUse;
    const clients = material.ca === undefined ? "none" : this.#options.certificate ?? "require";
    return { ...own, clients, ...(this.#problem === undefined ? {} : { problem: this.#problem }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#watch[Symbol.asyncDispose]();
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return systemClock.sleep(ms, signal);
  }

  #policy(): ClientPolicy {
    const { certificate = "require", allow = [] } = this.#options;
    return { certificate, allow, now: this.#now };
  }

  get #now(): () => number {
    return this.#options.wallClock ?? Date.now;
  }

  /** Puts what changed into use, if it is good; what is not may be about to be. */
  async #look(): Promise<void> {
    const known = this.#broken;
    this.#broken = await this.#refresh();
    if (this.#broken !== undefined && known === undefined) {
      await this.#pause(this.#options.settle ?? SETTLE);
      this.#broken = await this.#refresh();
    }
    this.#tell();
  }

  /** Gives what is wrong, if anything is. */
  async #refresh(): Promise<TlsProblem | undefined> {
    try {
      const material = await readTlsFiles(this.#options.files);
      if (!same(material, this.#inUse.material)) this.#take(material);
      return undefined;
    } catch (error) {
      return asProblem(error);
    }
  }

  #take(material: TlsMaterial): void {
    const next = usable(material, this.#options);
    const { own } = next;
    const fault = this.#datesFault(next);
    if (fault !== undefined && this.#datesFault(this.#inUse) === undefined) {
      throw new TlsFilesError(`the new files are not used: ${fault}`, KEPT);
    }
    if (material.ca === undefined && this.#inUse.material.ca !== undefined) {
      throw new TlsFilesError(
        `${
          tlsPaths(this.#options.files).ca
        } is gone; clients are still asked for certificates of its authorities`,
        "put it back, or restart to accept clients without certificates",
      );
    }
    this.#inUse = next;
    this.#options.onRotated?.(own);
  }

  /** Says what is wrong, each time that changes. */
  #tell(): void {
    const problem = this.#broken ?? this.#aging();
    if (JSON.stringify(problem) === JSON.stringify(this.#problem)) return;
    this.#problem = problem;
    this.#options.onProblem?.(problem);
  }

  /** Why nobody can connect at this time with what the files hold. */
  #datesFault({ material, own: { subject, notBefore, notAfter } }: InUse): string | undefined {
    const now = this.#now();
    if (notAfter < now) return `the certificate ${subject} expired on ${dateOf(notAfter)}`;
    if (notBefore > now) {
      return `the certificate ${subject} is not valid before ${dateOf(notBefore)}`;
    }
    const fault = authoritiesFault(material, now);
    return fault === undefined ? undefined : `${tlsPaths(this.#options.files).ca} ${fault}`;
  }

  #aging(): TlsProblem | undefined {
    const { material, own: { subject, notAfter } } = this.#inUse;
    const fault = this.#datesFault(this.#inUse);
    if (fault !== undefined) {
      const hint = `${RENEW}; if the dates are right, is the clock of this machine?`;
      return { severity: "error", message: fault, hint };
    }
    if (notAfter - this.#now() <= EXPIRES_SOON) {
      const message = `the certificate ${subject} expires on ${dateOf(notAfter)}`;
      return { severity: "warning", message, hint: RENEW };
    }
    const missing = missingIssuer(material);
    if (missing === undefined) return undefined;
    const { cert, ca } = tlsPaths(this.#options.files);
    return {
      severity: "warning",
      message:
        `clients may refuse ${subject}: its issuer ${missing} is neither in ${cert} nor in ${ca}`,
      hint: `add the certificate of ${missing} to ${cert}, unless clients know it as it is`,
    };
  }
}

const RENEW = "renew it; the files are read again when they change";

const KEPT = "the last good ones stay in use; put files there that are valid now";

function usable(material: TlsMaterial, { files, allow = [] }: TlsServerOptions): InUse {
  const own = checkPair(material, files);
  checkServerUse(material, files);
  checkAuthorities(material, files);
  const { cert, key, ca } = material;
  if (own === undefined || cert === undefined || key === undefined) {
    const { cert: path } = tlsPaths(files);
    throw new TlsFilesError(
      path === undefined ? "TLS has no certificate" : `${path} does not exist`,
      "a listener needs a certificate and its key",
    );
  }
  if (ca === undefined && allow.length > 0) {
    throw new TlsFilesError(
      "`allow` is of no use without a ca: clients are not asked for certificates",
      "add ca.crt, the authorities of the clients' certificates",
    );
  }
  return { material: { ...material, cert, key }, own };
}

function same(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}

function asProblem(error: unknown): TlsProblem {
  if (error instanceof TlsFilesError) {
    return { severity: "error", message: error.message, hint: error.hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { severity: "error", message, hint: "the last good files stay in use" };
}
