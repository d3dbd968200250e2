/**
 * A Pinnace and an Envoy that knows nothing but its address.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Status } from "../../../lib/admin/status_schema.ts";
import { Envoy, type EnvoyHost, type EnvoyOptions } from "./envoy.ts";
import { sendOne, type Target } from "./load.ts";
import { Pinnace, type PinnaceConfig } from "./pinnace.ts";

/** A subscription as Pinnace's status has it. */
export type Subscription = Status["peers"][number]["subscriptions"][number];

/** The two ways of asking; everything holds in both. */
export const MODES = ["sotw", "delta"] as const;

/** One of {@link MODES}. */
export type Mode = typeof MODES[number];

/** Both. Disposing it ends Envoy first. */
export class ServedEnvoy implements AsyncDisposable {
  readonly pinnace: Pinnace;
  readonly envoy: Envoy;

  private constructor(pinnace: Pinnace, envoy: Envoy) {
    this.pinnace = pinnace;
    this.envoy = envoy;
  }

  /** Starts both; resolves once Envoy serves all it was told. */
  static async start(
    mode: Mode,
    config: PinnaceConfig,
    options: Partial<EnvoyOptions> = {},
  ): Promise<ServedEnvoy> {
    const pinnace = await Pinnace.start(quick(config));
    try {
      const ads = pinnace.address;
      return new ServedEnvoy(
        pinnace,
        await Envoy.start({ ads, delta: mode === "delta", ...options }),
      );
    } catch (error) {
      const said = pinnace.process.describe();
      await pinnace[Symbol.asyncDispose]();
      throw new Error(`${error instanceof Error ? error.message : error}\n${said}`, {
        cause: error,
      });
    }
  }

  /** Replaces the configuration by one that publishes something else; resolves once it is published. */
  async write(config: PinnaceConfig): Promise<void> {
    const before = (await this.#status()).snapshot?.id;
    await this.pinnace.write(quick(config));
    await this.pinnace.process.expect("the change is published", async () => {
      return (await this.#status()).snapshot?.id !== before;
    }, { every: 20 });
  }

  /** Waits until a request is answered by `who`. */
  async answers(target: Target, who: string): Promise<void> {
    await this.envoy.process.expect(`${who} answers ${target.host}`, async () => {
      return await sendOne(target) === who;
    });
  }

  /** Waits until Envoy has answered everything, and nothing of what it has is still warming up. */
  async settled(): Promise<void> {
    await this.pinnace.process.expect("everything is answered", async () => {
      const subscriptions = (await this.#status()).peers.flatMap((peer) => peer.subscriptions);
      return subscriptions.length > 0 && subscriptions.every(({ pending }) => !pending);
    }, { every: 20 });
    await this.envoy.process.expect("nothing is warming", async () => {
      const stats = await this.envoy.stats("warming");
      return stats.values().every((count) => count === 0);
    }, { every: 20 });
  }

  /** Waits until Envoy is connected and has asked for every type. */
  async resubscribed(): Promise<void> {
    await this.pinnace.process.expect("Envoy is back", async () => {
      return (await this.subscriptions()).size === 4;
    }, { every: 20 });
  }

  /** What Pinnace says of Envoy's subscriptions, by the last part of their type URLs. */
  async subscriptions(): Promise<ReadonlyMap<string, Subscription>> {
    const { peers } = await this.#status();
    return new Map(
      peers.flatMap((peer) => peer.subscriptions).map((subscription) => {
        return [subscription.type.split(".").at(-1)!, subscription];
      }),
    );
  }

  async #status(): Promise<Status> {
    return await this.pinnace.status() as Status;
  }

  /** Waits until Envoy's endpoints of a cluster are exactly these, in any order, as `show` shows them. */
  async endpoints(
    cluster: string,
    wanted: readonly string[],
    show: (host: EnvoyHost) => string = (host) => host.address,
  ): Promise<void> {
    await this.envoy.process.expect(`endpoints of ${cluster}: ${wanted.join(" ")}`, async () => {
      const hosts = (await this.envoy.hosts()).get(cluster);
      assertEquals(hosts?.map(show).sort(), [...wanted].sort());
      return true;
    }, { every: 20 });
  }

  /** Waits until Envoy has these clusters (`present`) and not those (`absent`). */
  async clusters(present: readonly string[], absent: readonly string[] = []): Promise<void> {
    const what = `clusters ${present.join(" ")}, and not ${absent.join(" ")}`;
    await this.envoy.process.expect(what, async () => {
      const held = [...(await this.envoy.hosts()).keys()];
      assertEquals(present.filter((name) => !held.includes(name)), [], "missing");
      assertEquals(absent.filter((name) => held.includes(name)), [], "too many");
      return true;
    }, { every: 20 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.envoy[Symbol.asyncDispose]();
    await this.pinnace[Symbol.asyncDispose]();
  }
}

/** Tests make one change after another and wait for each: no need to wait for further ones. */
function quick(config: PinnaceConfig): PinnaceConfig {
  return { push: { quiet: "10ms", guard: 1 }, watch: { poll: "1s" }, ...config };
}

/** Name of a cluster. */
export function cluster(port: number, host: string, subset = ""): string {
  return `outbound|${port}|${subset}|${host}`;
}

/** Where requests to `host` go that leave through the listener of `port`. */
export function through(port: number, host: string, path = "/"): Target {
  return { url: `http://127.0.0.1:${port}${path}`, host };
}
