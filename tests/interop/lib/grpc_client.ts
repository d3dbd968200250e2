/**
 * gRPC programs without a proxy, in four languages, as processes: they know nothing but their bootstrap,
 * which names the control plane, and the targets that they are told to call.
 *
 * Commands go to their standard input, one a line, and each is answered by one JSON object: `call TARGET
 * COUNT HOLD` makes calls one after another; `start TARGET EVERY HOLD` begins to make one each EVERY
 * milliseconds, whatever became of those before, `report` tells what became of those that ended since
 * the last report, and `stop` ends that. The server answers each call after HOLD milliseconds.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { type JsonLine, Process } from "./process.ts";

/** The languages, by the names of their peers. */
export const GRPC_CLIENTS = ["grpc-python", "grpc-node", "grpc-java", "grpc-go"] as const;

/** One of them. */
export type GrpcClientName = typeof GRPC_CLIENTS[number];

/** What became of calls. */
export interface Calls {
  /** How many each server answered, by its name. */
  readonly answers: Readonly<Record<string, number>>;
  /** Code and message of each that failed. */
  readonly failures: readonly string[];
  /** Calls that had not ended yet. */
  readonly unfinished: number;
}

/** How a client is started. */
export interface GrpcClientOptions extends GrpcServer {
  /** Of its environment, besides the bootstrap. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Where the control plane is. */
export interface GrpcServer {
  /** `host:port`. */
  readonly server: string;
  /** Files, where the control plane is dialled with TLS. Absent: in plaintext. */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string };
}

/** Calls from which it is told who answers. */
const ENOUGH = 10;

/** A running client. */
export class GrpcClient implements AsyncDisposable {
  readonly process: Process;
  readonly #folder: string;

  private constructor(process: Process, folder: string) {
    this.process = process;
    this.#folder = folder;
  }

  /** Starts a client with a bootstrap file of its own; resolves once it takes commands. */
  static async start(
    name: GrpcClientName,
    options: GrpcClientOptions | { readonly bootstrap: string; readonly env?: undefined },
  ): Promise<GrpcClient> {
    const folder = await Deno.makeTempDir({ prefix: "pinnace-grpc-" });
    const bootstrap = `${folder}/bootstrap.json`;
    const text = "bootstrap" in options
      ? options.bootstrap
      : JSON.stringify(bootstrapOf(name, options));
    await Deno.writeTextFile(bootstrap, text);
    const process = Process.start({
      name,
      command: binary(name),
      args: [],
      env: { ...options.env, GRPC_XDS_BOOTSTRAP: bootstrap },
    });
    const client = new GrpcClient(process, folder);
    try {
      await process.expectObject("it is ready", ({ event }) => event === "ready");
      return client;
    } catch (error) {
      await client[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes calls one after another and says what became of them. */
  call(target: string, count: number, hold = 0): Promise<Calls> {
    return this.#command(`call ${target} ${count} ${hold}`, "called");
  }

  /** Begins to make calls. Milliseconds. */
  async start(target: string, { every = 10, hold = 0 } = {}): Promise<void> {
    await this.#command(`start ${target} ${every} ${hold}`, "started");
  }

  /** What became of the calls that ended since the last report. */
  report(): Promise<Calls> {
    return this.#command("report", "report");
  }

  /** Makes no more calls, and waits for those that have not ended. */
  stop(): Promise<Calls> {
    return this.#command("stop", "stopped");
  }

  /**
   * Waits, while calls go on, until all that ended between two reports, and not too few, were answered by
   * exactly these servers; gives every call that failed meanwhile.
   */
  async settlesOn(servers: readonly string[]): Promise<readonly string[]> {
    const wanted = [...servers].sort().join(" ");
    const failures: string[] = [];
    let last: Calls | undefined;
    await this.process.expect(`${wanted} answer, and nobody else`, async () => {
      last = await this.report();
      failures.push(...last.failures);
      const seen = Object.keys(last.answers).sort().join(" ");
      if (seen === wanted && answered(last) >= ENOUGH) return true;
      throw new Error(`answered by ${seen === "" ? "nobody" : seen}; ${last.failures[0] ?? ""}`);
    }, { every: 300 });
    return failures;
  }

  /** Waits, while calls go on, until so many more were answered; gives every call that failed meanwhile. */
  async goesOn(count: number): Promise<readonly string[]> {
    const failures: string[] = [];
    let total = 0;
    await this.process.expect(`${count} more calls are answered`, async () => {
      const calls = await this.report();
      failures.push(...calls.failures);
      total += answered(calls);
      return total >= count;
    });
    return failures;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #command<T extends JsonLine & Calls>(line: string, event: string): Promise<T> {
    const from = this.process.objects.length;
    await this.process.say(line);
    return await this.process.expectObject<T>(
      `${event} after ${JSON.stringify(line)}`,
      (object) => object.event === event,
      { from },
    );
  }
}

function answered({ answers }: Calls): number {
  return Object.values(answers).reduce((sum, count) => sum + count, 0);
}

function bootstrapOf(name: GrpcClientName, { server, tls }: GrpcServer) {
  const credentials = tls === undefined ? { type: "insecure" } : {
    type: "tls",
    config: {
      ca_certificate_file: tls.ca,
      ...(tls.cert === undefined ? {} : { certificate_file: tls.cert, private_key_file: tls.key }),
    },
  };
  return {
    xds_servers: [{
      server_uri: server,
      channel_creds: [credentials],
      server_features: ["xds_v3"],
    }],
    // Without a locality grpc-js-xds takes no bootstrap.
    node: { id: `${name}-1`, locality: { region: "eu" } },
  };
}

/** gRPC servers that say their names, in one process, each on a port of its own. */
export class GrpcBackends implements AsyncDisposable {
  readonly process: Process;

  private constructor(process: Process) {
    this.process = process;
  }

  /** Starts them; `addresses` are `host:port` by name. Resolves once they take calls. */
  static async start(addresses: Readonly<Record<string, string>>): Promise<GrpcBackends> {
    const args = Object.entries(addresses).map(([name, address]) => `${name}=${address}`);
    const process = Process.start({
      name: "grpc backends",
      command: binary("grpc-backend"),
      args,
    });
    const backends = new GrpcBackends(process);
    try {
      await process.expectObject("they are ready", ({ event }) => event === "ready");
      return backends;
    } catch (error) {
      await backends[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends a server and its connections at once. */
  async close(name: string): Promise<void> {
    await this.process.say(`close ${name}`);
    await this.process.expectObject(
      `${name} is closed`,
      (object) => object.event === "closed" && object.name === name,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
