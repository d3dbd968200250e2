/**
 * A network of its own in which connections to some ports are redirected to an Envoy, as those of a pod
 * with a sidecar are: a cable leads there, and every address of a range is there. Needs Linux, root,
 * `ip` and `nft`.
 *
 * @module
 */

/** Addresses for benchmarks and tests (RFC 2544), which nobody routes. */
const NETWORK = "198.19";

/** A namespace with one cable to ours. Disposing it takes both away. */
export class RedirectedNetwork implements AsyncDisposable {
  readonly #name = `pinnace-r${Deno.pid}`;
  /** Address of the other end of the cable: where connections are redirected to. */
  readonly inside: string;
  /** Addresses that are reached through the cable, and that programs inside have. */
  readonly range: string;
  readonly #outside: string;

  private constructor() {
    const block = `${NETWORK}.${Deno.pid % 256}`;
    this.#outside = `${block}.241`;
    this.inside = `${block}.242`;
    this.range = `${block}.248/29`;
  }

  /** Lays the cable. A connection to a port of the range goes to that port and `offset`. */
  static async open(ports: readonly number[], offset: number): Promise<RedirectedNetwork> {
    const network = new RedirectedNetwork();
    const [ours, theirs] = [`pr${Deno.pid}a`, `pr${Deno.pid}b`];
    const { inside, range } = network;
    await run("ip", "netns", "add", network.#name);
    try {
      const peer = ["peer", "name", theirs, "netns", network.#name];
      await run("ip", "link", "add", ours, "type", "veth", ...peer);
      await run("ip", "addr", "add", `${network.#outside}/30`, "dev", ours);
      await run("ip", "link", "set", ours, "up");
      await network.#in("ip", "addr", "add", `${inside}/30`, "dev", theirs);
      await network.#in("ip", "link", "set", theirs, "up");
      await network.#in("ip", "link", "set", "lo", "up");
      await network.#in("ip", "route", "add", "local", range, "dev", "lo");
      await run("ip", "route", "add", range, "via", inside);
      await network.#in("nft", rules(range, ports, offset));
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
    return network;
  }

  /** What comes before a command that is to run inside. */
  get prefix(): readonly string[] {
    return ["netns", "exec", this.#name];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("ip", "netns", "del", this.#name); // the cable goes with it, and the route
  }

  async #in(...command: readonly string[]): Promise<void> {
    await run("ip", ...this.prefix, ...command);
  }
}

/** What comes by the cable is redirected; what starts inside, Envoy's own connections, is not. */
function rules(range: string, ports: readonly number[], offset: number): string {
  return [
    "add table ip mesh",
    "add chain ip mesh come { type nat hook prerouting priority dstnat; }",
    ...ports.map((port) =>
      `add rule ip mesh come ip daddr ${range} tcp dport ${port} redirect to :${port + offset}`
    ),
  ].join("; ");
}

async function run(...[command, ...args]: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command!, { args, stdout: "null" }).output();
  if (success) return;
  throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
