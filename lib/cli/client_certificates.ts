/**
 * The certificates that we show to those whom we dial, for the status: looked at now and then, since
 * they are read for good at each attempt to dial.
 *
 * @module
 */
import type { StatusCertificate } from "../admin/status.ts";
import type { Settings, TlsFiles } from "../model/settings.ts";
import type { Clock } from "../rollout/clock.ts";
import { readClientFiles } from "../transport/client_tls.ts";
import type { DialTarget } from "../transport/dial_target.ts";
import { dateOf, type OwnCertificate } from "../transport/tls_files.ts";
import { pullTargets, sinkTargets } from "./dial_targets.ts";

/** Where a certificate of ours is shown, and the files that it is in, by absolute paths. */
export interface ClientUse {
  /** `sink NAME` or `pull URL`. */
  readonly use: string;
  readonly files: TlsFiles;
}

/** Who is shown a certificate of ours, as far as it is known without a look at the files; `folder`, absolute, is where relative paths start. */
export function clientUses({ sinks, pull }: Settings, folder: string): ClientUse[] {
  const of = (use: string, { tls }: DialTarget): ClientUse[] =>
    tls === undefined || !mayHoldOurs(tls.files) ? [] : [{ use, files: tls.files }];
  return [
    ...sinkTargets(sinks, folder).targets.flatMap((sink) => of(`sink ${sink.name}`, sink)),
    ...pullTargets(pull, folder).targets.flatMap((one) => of(`pull ${one.url}`, one)),
  ];
}

function mayHoldOurs(files: TlsFiles): boolean {
  return files.kind === "folder" || files.cert !== undefined || files.key !== undefined;
}

/** How often files are looked at. Milliseconds. */
const EVERY = 60_000;

interface Found {
  readonly own?: OwnCertificate;
  readonly problem?: string;
}

/** Knows the certificates. Disposing it ends the looking. */
export class ClientCertificates implements Disposable {
  readonly #clock: Clock;
  #uses: readonly ClientUse[] = [];
  /** By files. */
  #found: ReadonlyMap<string, Found> = new Map();
  #round = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at these from now on, and at once if they are others than before. */
  configure(uses: readonly ClientUse[]): void {
    if (JSON.stringify(uses) === JSON.stringify(this.#uses)) return;
    this.#uses = uses;
    this.#round.abort();
    this.#round = new AbortController();
    if (uses.length > 0) void this.#follow(this.#round.signal);
  }

  /** What was found last. Nothing of those that have not been looked at, and of folders without a certificate. */
  list(): readonly StatusCertificate[] {
    return this.#uses.flatMap(({ use, files }): StatusCertificate[] => {
      const { own, problem } = this.#found.get(keyOf(files)) ?? {};
      if (own === undefined) return problem === undefined ? [] : [{ use, problem }];
      const { subject, notAfter } = own;
      const why = problem ?? this.#agingOf(own);
      return [{ use, subject, notAfter, ...(why === undefined ? {} : { problem: why }) }];
    });
  }

  [Symbol.dispose](): void {
    this.#round.abort();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = new Map<string, Found>();
      for (const { files } of this.#uses) {
        const key = keyOf(files);
        if (!found.has(key)) found.set(key, await this.#look(files, signal));
        if (signal.aborted) return;
      }
      this.#found = found;
      await this.#clock.sleep(EVERY, signal);
    }
  }

  async #look(files: TlsFiles, signal: AbortSignal): Promise<Found> {
    try {
      const { own } = await readClientFiles(files, signal);
      return own === undefined ? {} : { own };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { ...this.#found.get(keyOf(files)), problem };
    }
  }

  #agingOf({ subject, notBefore, notAfter }: OwnCertificate): string | undefined {
    const now = this.#clock.now();
    if (notAfter < now) return `the certificate ${subject} expired on ${dateOf(notAfter)}`;
    if (notBefore <= now) return undefined;
    return `the certificate ${subject} is not valid before ${dateOf(notBefore)}`;
  }
}

function keyOf(files: TlsFiles): string {
  return JSON.stringify(files);
}
