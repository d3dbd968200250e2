/**
 * A network of its own for a process, from which connections go out and none comes in: what an edge
 * site behind a firewall is. Needs Linux, root, `ip` and `nft`.
 *
 * @module
 */

/** Addresses for benchmarks and tests (RFC 2544), which nobody routes: a /30 for each namespace. */
const NETWORK = "198.18";

/** A namespace with one cable to ours. Disposing it takes both away. */
export class FirewalledNetwork implements AsyncDisposable {
  readonly #name: string;
  /** Our end of the cable: what is dialled from inside. */
  readonly outside: string;
  /** The other end. */
  readonly inside: string;

  private constructor(name: string, { outside, inside }: { outside: string; inside: string }) {
    this.#name = name;
    this.outside = outside;
    this.inside = inside;
  }

  /** Lays the cable and puts up the firewall. `number` (0 to 63) tells namespaces of one test apart. */
  static async open(number: number): Promise<FirewalledNetwork> {
    const block = Deno.pid % 256;
    const [outside, inside] = [1, 2].map((host) => `${NETWORK}.${block}.${4 * number + host}`);
    const name = `pinnace-${Deno.pid}-${number}`;
    const [ours, theirs] = [`pn${Deno.pid}x${number}a`, `pn${Deno.pid}x${number}b`];
    const network = new FirewalledNetwork(name, { outside: outside!, inside: inside! });
    await run("ip", "netns", "add", name);
    try {
      await run("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name);
      await run("ip", "addr", "add", `${outside}/30`, "dev", ours);
      await run("ip", "link", "set", ours, "up");
      await network.#in("ip", "addr", "add", `${inside}/30`, "dev", theirs);
      await network.#in("ip", "link", "set", theirs, "up");
      await network.#in("ip", "link", "set", "lo", "up");
      await network.#in("nft", FIREWALL);
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
    return network;
  }

  /** What comes before a command that is to run inside. */
  get prefix(): readonly string[] {
    return ["ip", "netns", "exec", this.#name];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("ip", "netns", "del", this.#name); // the cable goes with it
  }

  async #in(...command: readonly string[]): Promise<void> {
    await run(...this.prefix, ...command);
  }
}

/** Answers to what went out come in, and what stays inside; nothing else does. */
const FIREWALL = [
  "add table inet edge",
  "add chain inet edge input { type filter hook input priority 0; policy drop; }",
  "add rule inet edge input ct state established,related accept",
  'add rule inet edge input iif "lo" accept',
].join("; ");

async function run(...[command, ...args]: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command!, { args, stdout: "null" }).output();
  if (success) return;
  throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
