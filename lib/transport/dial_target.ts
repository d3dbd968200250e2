/**
 * Whoever we dial, sinks and servers that we pull from alike: where it is, how it is made secure, what
 * we show to it; and one attempt to open a stream. Files are read at each attempt, so that what was
 * rotated counts from the next on.
 *
 * @module
 */
import type { ClientTlsSettings } from "../model/settings.ts";
import { readClientTls } from "./client_tls.ts";
import type { Proxy } from "./connect_proxy.ts";
import { DialError, dialStream, type Ping } from "./dial.ts";
import type { PushStream } from "./push_stream.ts";
import { TlsFilesError } from "./tls_files.ts";
import { readToken, TokenFileError } from "./token_file.ts";

/** How someone is dialled; nothing is left to expand, paths are absolute. */
export interface DialTarget {
  /** Name or IP address. */
  readonly host: string;
  readonly port: number;
  /** Absent: plaintext. */
  readonly tls?: ClientTlsSettings;
  /** Its content goes along as `authorization: Bearer`. */
  readonly tokenFile?: string;
  /** HTTP CONNECT proxy; it looks {@link DialTarget.host} up. */
  readonly proxy?: Proxy;
  /** gRPC metadata. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One attempt. */
export interface DialTargetOptions {
  /** Ends the attempt, or the stream that came of it. */
  readonly signal: AbortSignal;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Largest message of the peer. Bytes. Default 16 MiB. */
  readonly maxReceive?: number;
  /** How the connection is asked for signs of life. Default: as {@link dialStream} does. */
  readonly ping?: Ping;
}

/**
 * Opens a stream to the target: to `host` where given, one of the addresses behind the target's name,
 * else to any. Rejects with a {@link DialError} that says what is in the way, or with the signal's
 * reason. A server need not have answered yet when it resolves.
 */
export async function dialTarget(
  target: DialTarget,
  { host }: { readonly host?: string },
  path: string,
  { signal, ...options }: DialTargetOptions,
): Promise<PushStream> {
  signal.throwIfAborted();
  const { tls, tokenFile, proxy, headers } = target;
  try {
    const [secrets, token] = await Promise.all([
      tls === undefined ? undefined : readClientTls(tls, target.host, signal),
      tokenFile === undefined ? undefined : readToken(tokenFile),
    ]);
    signal.throwIfAborted();
    return await dialStream({ host: host ?? target.host, port: target.port }, path, {
      ...options,
      signal,
      metadata: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
      authority: { host: target.host, port: target.port },
      ...(secrets === undefined ? {} : { tls: secrets }),
      ...(proxy === undefined ? {} : { proxy }),
    });
  } catch (error) {
    if (error instanceof TlsFilesError) {
      throw new DialError(`${error.message}; ${error.hint}`, { cause: error });
    }
    if (error instanceof TokenFileError) throw new DialError(error.message, { cause: error });
    throw error;
  }
}
