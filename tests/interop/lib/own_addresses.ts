/**
 * Addresses of this machine beside the loopback ones: what a provider is reached at that takes no
 * address beginning with 127. Needs Linux, root and `ip`.
 *
 * @module
 */

/** Addresses for benchmarks and tests (RFC 2544), which nobody routes; `netns.ts` has the other half of them. */
const NETWORK = "198.19";

/** Addresses that this machine has for as long as it is not disposed. */
export class OwnAddresses implements AsyncDisposable {
  readonly all: readonly string[];

  private constructor(all: readonly string[]) {
    this.all = all;
  }

  /** So many addresses, at most 254. */
  static async take(count: number): Promise<OwnAddresses> {
    const all = Array.from({ length: count }, (_, i) => `${NETWORK}.${Deno.pid % 256}.${i + 1}`);
    const taken = new OwnAddresses(all);
    try {
      for (const address of all) await ip("replace", address);
      return taken;
    } catch (error) {
      await taken[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const address of this.all) await ip("del", address).catch(() => {}); // it may be gone
  }
}

async function ip(what: "replace" | "del", address: string): Promise<void> {
  const args = ["addr", what, `${address}/32`, "dev", "lo"];
  const { success, stderr } = await new Deno.Command("ip", { args, stdout: "null" }).output();
  if (!success) throw new Error(`ip ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
