/**
 * Dubbo 3.2.8 as processes: providers and consumers, with a registry (`xds://`) or behind a sidecar.
 *
 * Both want a token where Kubernetes has it, so each runs in a mount namespace of its own; that needs
 * Linux and root.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { type JsonLine, Process } from "./process.ts";
import { WaitError } from "./wait.ts";

/** What calls came to. */
export interface DubboTally extends JsonLine {
  /** Calls by the name of the provider that answered. */
  readonly answered: Readonly<Record<string, number>>;
  /** Calls by what went wrong. */
  readonly failed: Readonly<Record<string, number>>;
}

/** The port at which consumers here ask providers for their metadata. */
export const METADATA_PORT = 20885;

/** How long a start may take. It takes 2 to 10 s; one that Dubbo hangs in takes for ever. Milliseconds. */
const START = 45_000;

/** Address of a Pinnace as a registry. */
export function registryOf(address: string): string {
  return `xds://${address}?secure=plaintext`;
}

/** A provider to start. */
export interface ProviderSpec {
  /** What it answers. */
  readonly name: string;
  readonly application: string;
  /** Where it listens; none that begins with 127., which Dubbo takes for any address. */
  readonly host: string;
  readonly port: number;
  /** Default `tri`. */
  readonly protocol?: "tri" | "dubbo";
  /** Port of its metadata service; absent: the same. */
  readonly metadata?: number;
  /** Absent: none. */
  readonly registry?: string;
}

/** Starts a provider; resolves once it can be called. */
export async function startProvider(spec: ProviderSpec): Promise<Dubbo> {
  const { name, application, host, port, protocol = "tri", metadata, registry } = spec;
  return await Dubbo.start(`Dubbo provider ${name}`, "interop.Provider", {
    ...{ name, application, host, port: String(port), protocol },
    ...(metadata === undefined ? {} : { metadata: String(metadata) }),
    ...(registry === undefined ? {} : { registry }),
  }, { env: { DUBBO_IP_TO_BIND: host } }); // of the metadata service, too
}

/** A consumer to start. */
export interface ConsumerSpec {
  /** The application that provides what it calls. */
  readonly providedBy: string;
  /** Absent: it calls through a sidecar. */
  readonly registry?: string;
  /** Where it asks providers for their metadata; default {@link METADATA_PORT}; `endpoint`: where it calls them. */
  readonly metadata?: number | "endpoint";
  readonly env?: Readonly<Record<string, string>>;
  /** Names and their addresses, beside those of the machine. */
  readonly hosts?: Readonly<Record<string, string>>;
}

/** Starts a consumer; resolves once it says that it is up, whether there is a provider or not. */
export async function startConsumer(
  { providedBy, registry, metadata = METADATA_PORT, ...surroundings }: ConsumerSpec,
): Promise<DubboConsumer> {
  const asked = metadata === "endpoint" ? {} : { metadata: String(metadata) };
  const words: Record<string, string> = registry === undefined
    ? { providedBy, mesh: "true" }
    : { providedBy, registry, ...asked };
  return new DubboConsumer(
    await Dubbo.start("Dubbo consumer", "interop.Consumer", words, surroundings),
  );
}

/**
 * As {@link startConsumer}, once more where Dubbo's own start hangs, which is said: it takes answers
 * and asks on two threads that do not wait for each other.
 */
export async function startConsumerPatiently(spec: ConsumerSpec): Promise<DubboConsumer> {
  try {
    return await startConsumer(spec);
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof WaitError)) throw error;
    const text = `a Dubbo consumer did not start, another is started:\n${error.message}\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(text));
    return await startConsumer(spec);
  }
}

/** Where a process runs. */
interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly hosts?: Readonly<Record<string, string>>;
}

/** A running program of Dubbo's. */
export class Dubbo implements AsyncDisposable {
  readonly process: Process;
  readonly #folder: string;

  private constructor(process: Process, folder: string) {
    this.process = process;
    this.#folder = folder;
  }

  /** Starts a program; resolves once it says that it is up. Rejects where it is not in time. */
  static async start(
    name: string,
    program: string,
    words: Readonly<Record<string, string>>,
    surroundings: Surroundings = {},
  ): Promise<Dubbo> {
    const dubbo = Dubbo.launch(name, program, words, surroundings);
    try {
      await dubbo.process.expectObject("it is up", ({ event }) => event === "up", {
        deadline: START,
      });
      return dubbo;
    } catch (error) {
      await dubbo[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a program, which may never be up. */
  static launch(
    name: string,
    program: string,
    words: Readonly<Record<string, string>>,
    { env = {}, hosts = {} }: Surroundings = {},
  ): Dubbo {
    const folder = Deno.makeTempDirSync({ prefix: "pinnace-dubbo-" });
    const known = Object.entries(hosts).map(([host, address]) => `${address} ${host}\n`).join("");
    Deno.writeTextFileSync(`${folder}/hosts`, Deno.readTextFileSync("/etc/hosts") + known);
    const process = Process.start({
      name,
      command: "unshare",
      args: [
        ...["--mount", "sh", "-ec", MOUNT, "sh", `${folder}/hosts`, binary("dubbo")],
        ...[`-Duser.home=${folder}`, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", program],
        ...Object.entries(words).map(([key, value]) => `${key}=${value}`),
      ],
      env,
    });
    return new Dubbo(process, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It takes its leave of a registry and of its callers for longer than a test has.
    this.process.signal("SIGKILL");
    await this.process[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** Lays what Dubbo looks for, then becomes the program. */
const MOUNT = `
run=$(readlink -f /var/run)
mount -t tmpfs tmpfs "$run"
mkdir -p "$run/secrets/kubernetes.io/serviceaccount" "$run/secrets/tokens"
echo none > "$run/secrets/kubernetes.io/serviceaccount/token"
echo none > "$run/secrets/tokens/istio-token"
mount --bind "$1" /etc/hosts
shift
exec "$@"`;

/** A consumer that calls when it is told to. */
export class DubboConsumer implements AsyncDisposable {
  readonly #dubbo: Dubbo;

  constructor(dubbo: Dubbo) {
    this.#dubbo = dubbo;
  }

  /** The process. */
  get process(): Process {
    return this.#dubbo.process;
  }

  /** Makes so many calls, one after the other. */
  async call(count: number): Promise<DubboTally> {
    return await this.#tally(`call ${count}`);
  }

  /** Starts to call without end; `pause` milliseconds between calls. */
  async start(pause: number): Promise<void> {
    await this.process.say(`start ${pause}`);
  }

  /** Ends the calls that {@link start} started. */
  async stop(): Promise<DubboTally> {
    return await this.#tally("stop");
  }

  /** Calls until only these providers answer, and each of them does; calls may fail meanwhile. */
  async reaches(...providers: readonly string[]): Promise<void> {
    const wanted = [...providers].sort().join();
    await this.process.expect(`${wanted || "nobody"} answers, and nobody else`, async () => {
      const { answered, failed } = await this.call(30);
      const all = Object.keys(failed).length === 0 || providers.length === 0;
      return all && Object.keys(answered).sort().join() === wanted;
    }, { every: 200 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dubbo[Symbol.asyncDispose]();
  }

  async #tally(order: string): Promise<DubboTally> {
    const from = this.process.objects.length;
    await this.process.say(order);
    return await this.process.expectObject<DubboTally>(
      `it did: ${order}`,
      ({ event }) => event === "tally",
      { from },
    );
  }
}
