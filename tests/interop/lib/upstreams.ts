/**
 * What stands behind a proxy: servers that say who answered, on addresses of the loopback network
 * (127.0.0.2 and so on), so that several share a port number.
 *
 * @module
 */

/** Where a server listens. */
export interface UpstreamOptions {
  /** It says so in each answer. */
  readonly name: string;
  /** Default 127.0.0.1. */
  readonly hostname?: string;
  /** Default: a free one. */
  readonly port?: number;
}

/** A certificate and its key, PEM. */
export interface Papers {
  readonly cert: string;
  readonly key: string;
}

/** What an HTTP upstream says of a request. */
export interface Echo {
  /** Name of the upstream. */
  readonly who: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** What the request named as its host. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * An HTTP upstream: HTTP/1.1 and HTTP/2 (without TLS by prior knowledge), told apart by what comes. It
 * answers each request with an {@link Echo}; `/hold` with its name on a line and then, once
 * {@link HttpUpstream.release} is called, `done` on another.
 */
export class HttpUpstream implements AsyncDisposable {
  readonly name: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #cut = new AbortController();
  #released = Promise.withResolvers<void>();
  #held = 0;
  #requests = 0;

  constructor(options: UpstreamOptions, tls: Papers | undefined = undefined) {
    this.name = options.name;
    this.#server = Deno.serve({
      hostname: options.hostname ?? "127.0.0.1",
      port: options.port ?? 0,
      onListen: () => {},
      signal: this.#cut.signal,
      ...tls,
    }, (request) => this.#answer(request));
  }

  /** IP address. */
  get hostname(): string {
    return this.#server.addr.hostname;
  }

  /** Port. */
  get port(): number {
    return this.#server.addr.port;
  }

  /** Requests that are being held. */
  get held(): number {
    return this.#held;
  }

  /** Requests that came so far, held ones included. */
  get requests(): number {
    return this.#requests;
  }

  /** Lets all go that is held. */
  release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  /** Ends it once what is under way is answered. */
  async end(): Promise<void> {
    await this.#server.shutdown();
  }

  /** Ends it at once, with what is under way, as a power cut does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cut.abort();
    this.release();
    await this.#server.finished;
  }

  #answer(request: Request): Response {
    this.#requests++;
    const url = new URL(request.url);
    if (url.pathname === "/hold") return new Response(this.#hold());
    const echo: Echo = {
      who: this.name,
      method: request.method,
      path: url.pathname + url.search,
      host: request.headers.get("host") ?? url.host,
      headers: Object.fromEntries(request.headers),
    };
    return Response.json(echo, { headers: { "x-who": this.name } });
  }

  async *#lines(): AsyncGenerator<string> {
    this.#held++;
    try {
      yield `${this.name}\n`;
      await this.#released.promise;
      yield "done\n";
    } finally {
      this.#held--;
    }
  }

  #hold(): ReadableStream<Uint8Array> {
    return ReadableStream.from(this.#lines()).pipeThrough(new TextEncoderStream());
  }
}

/** A TCP or, with a certificate, TLS upstream: says its name on a line, then sends back what comes. */
export class StreamUpstream implements AsyncDisposable {
  readonly name: string;
  readonly #listener: Deno.Listener;
  readonly #open = new Set<Deno.Conn>();
  readonly #ended: Promise<void>;

  constructor(options: UpstreamOptions, tls: Papers | undefined = undefined) {
    this.name = options.name;
    const where = { hostname: options.hostname ?? "127.0.0.1", port: options.port ?? 0 };
    this.#listener = tls === undefined ? Deno.listen(where) : Deno.listenTls({ ...where, ...tls });
    this.#ended = this.#serve();
  }

  /** IP address. */
  get hostname(): string {
    return (this.#listener.addr as Deno.NetAddr).hostname;
  }

  /** Port. */
  get port(): number {
    return (this.#listener.addr as Deno.NetAddr).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) conn.close();
    await this.#ended;
  }

  async #serve(): Promise<void> {
    const all: Promise<void>[] = [];
    for await (const conn of this.#listener) all.push(this.#talk(conn));
    await Promise.all(all);
  }

  async #talk(conn: Deno.Conn): Promise<void> {
    this.#open.add(conn);
    try {
      await conn.write(new TextEncoder().encode(`${this.name}\n`));
      await conn.readable.pipeTo(conn.writable);
    } catch {
      /* it went; that is the other end's business */
    } finally {
      this.#open.delete(conn);
      try {
        conn.close();
      } catch { /* it is closed */ }
    }
  }
}

/** How a stream upstream is dialled through a proxy. */
export interface StreamCall {
  /** `host:port` of the proxy's listener. */
  readonly at: string;
  /** By TLS, with this server name, trusting these authorities (PEM). Absent: plain TCP. */
  readonly tls?: { readonly serverName: string; readonly caCerts: readonly string[] };
}

/** Dials, says a line, and gives the name of who sent it back. Rejects where it comes back otherwise. */
export async function callStream({ at, tls }: StreamCall): Promise<string> {
  const { hostname, port } = new URL(`http://${at}`);
  let conn: Deno.Conn = await Deno.connect({ hostname, port: Number(port) });
  try {
    if (tls !== undefined) {
      const { serverName, caCerts } = tls;
      const secure = await Deno.startTls(conn as Deno.TcpConn, {
        hostname: serverName,
        caCerts: [...caCerts],
      });
      conn = secure;
    }
    const lines = linesOf(conn);
    const who = (await lines.next()).value;
    const line = crypto.randomUUID();
    await conn.write(new TextEncoder().encode(`${line}\n`));
    const back = (await lines.next()).value;
    if (who === undefined || back !== line) throw new Error(`${who} sent ${back} back for ${line}`);
    return who;
  } finally {
    conn.close();
  }
}

async function* linesOf(conn: Deno.Conn): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let rest = "";
  while (true) {
    const size = await conn.read(buffer);
    if (size === null) return undefined;
    const lines = (rest + decoder.decode(buffer.subarray(0, size), { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
