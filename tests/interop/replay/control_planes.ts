/**
 * The programs of `peers/go-control-plane` as processes: a server of go-control-plane's, a relay that
 * tells what passes, a client without a will of its own.
 *
 * @module
 */
import { binary } from "../lib/binaries.ts";
import { type JsonLine, Process } from "../lib/process.ts";

/** Name among the built peers. */
export const GO_CONTROL_PLANE = "go-control-plane";

/** A resource as it is on the wire. */
export interface WireResource {
  readonly name: string;
  /** Of delta; else empty. */
  readonly version: string;
  /** `type_url` of the Any. */
  readonly anyType: string;
  /** Content of the Any, base64. */
  readonly bytes: string;
}

/** A response as a client or the relay reports it. */
export interface WireResponse extends JsonLine {
  readonly event: "response";
  readonly stream: number;
  readonly type: string;
  readonly nonce: string;
  readonly version: string;
  readonly resources: readonly WireResource[];
  readonly removed: readonly string[];
}

/** What a control plane serves: by type URL. */
export interface World {
  readonly types: Readonly<
    Record<string, { readonly version: string; readonly resources: readonly WireResource[] }>
  >;
}

/** How go-control-plane's server is set up. */
export interface ServerOptions {
  /** Whether its clients ask for every resource of every type, as Envoys do: then answers are held back until they do. */
  readonly asksForAll: boolean;
  /** Whether naming nothing asks for all; not for gRPC. Default: as {@link asksForAll}. */
  readonly wildcard?: boolean;
}

/** go-control-plane's server, with a snapshot cache that every client is served from. */
export class RivalServer implements AsyncDisposable {
  readonly process: Process;
  readonly address: string;
  #worlds = 0;

  private constructor(process: Process, address: string) {
    this.process = process;
    this.address = address;
  }

  /** Starts it, set up as its documentation says for such clients, and hands it a world. */
  static async start(
    world: World,
    { asksForAll, wildcard = asksForAll }: ServerOptions,
  ): Promise<RivalServer> {
    const { process, address } = await listening("serve", [
      `-ads=${asksForAll}`,
      `-wildcard=${wildcard}`,
    ]);
    const server = new RivalServer(process, address);
    await server.serve(world);
    return server;
  }

  /** Hands it another world; resolves once it is served. */
  async serve(world: World): Promise<void> {
    const count = ++this.#worlds;
    await this.process.say(JSON.stringify(world));
    await this.process.expect("it took the resources", () => {
      return this.process.objects.filter(({ event }) => event === "set").length === count;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

/** Stands between clients and a control plane. */
export class Relay implements AsyncDisposable {
  readonly process: Process;
  /** For clients. */
  readonly address: string;

  private constructor(process: Process, address: string) {
    this.process = process;
    this.address = address;
  }

  /** Starts it before the control plane at `upstream`. */
  static async start(upstream: string): Promise<Relay> {
    const { process, address } = await listening("relay", ["-upstream", upstream]);
    return new Relay(process, address);
  }

  /** Notes a word between what passed before and what passes after. */
  async mark(word: string): Promise<void> {
    await this.process.say(JSON.stringify({ mark: word }));
    await this.process.expect("it took the mark", () => {
      return this.process.objects.some(({ event, mark }) => event === "mark" && mark === word);
    });
  }

  /** Ends every stream, as a control plane does that goes away. */
  async cut(): Promise<void> {
    await this.process.say(JSON.stringify({ cut: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

/** A client that sends what it is told, and nothing else. */
export class RawClient implements AsyncDisposable {
  readonly process: Process;
  #streams = 0;

  constructor(address: string) {
    this.process = Process.start({
      name: `client of ${address}`,
      command: binary(GO_CONTROL_PLANE),
      args: ["stream", "-address", address],
    });
  }

  /** Opens a stream in place of the one before; gives its number. */
  async open(mode: "sotw" | "delta"): Promise<number> {
    await this.process.say(JSON.stringify({ open: mode }));
    return ++this.#streams;
  }

  /** Ends the stream. */
  async lose(): Promise<void> {
    await this.process.say(JSON.stringify({ lose: true }));
  }

  /** Sends a request, in protobuf's JSON. */
  async send(request: object): Promise<void> {
    await this.process.say(JSON.stringify({ request }));
  }

  /** Asks for some of a type without a stream, by the full name of a method; gives the answer. */
  async fetch(method: string, request: object): Promise<WireResponse> {
    const before = this.process.objects.length;
    await this.process.say(JSON.stringify({ fetch: method, request }));
    const answer = await this.process.expectObject(
      `${method} is answered`,
      ({ stream }) => stream === 0,
      { from: before },
    );
    if (answer.event === "ended") throw new Error(`${method}: ${answer.error}`);
    return answer as unknown as WireResponse;
  }

  /** What came on a stream so far. */
  responses(stream: number): readonly WireResponse[] {
    return this.process.objects.filter((o) =>
      o.event === "response" && o.stream === stream
    ) as WireResponse[];
  }

  /** Why a stream ended, if it did. */
  ended(stream: number): string | undefined {
    const end = this.process.objects.find((o) => o.event === "ended" && o.stream === stream);
    return end === undefined ? undefined : String(end.error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

async function listening(
  program: string,
  options: readonly string[],
): Promise<{ readonly process: Process; readonly address: string }> {
  const process = Process.start({
    name: `go-control-plane ${program}`,
    command: binary(GO_CONTROL_PLANE),
    args: [program, ...options],
  });
  try {
    const line = await process.expectObject<JsonLine>(
      "it listens",
      ({ event }) => event === "listening",
    );
    return { process, address: String(line.address) };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}
