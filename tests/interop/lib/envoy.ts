/**
 * A whole Envoy, as its project releases it: one that a control plane on this machine configures, one
 * that is configured by hand, and its verdict on a configuration.
 *
 * Each has an admin address and a shared-memory number of its own, so that several run at once; its
 * listeners are where its control plane says: each Envoy that is served alike on one machine needs
 * ports (`envoy.portOffset`) of its own.
 *
 * @module
 */
import { bootstrapFor, type EnvoyNode, type JsonObject } from "./envoy_bootstrap.ts";
import { binary } from "./binaries.ts";
import { Process } from "./process.ts";

/** Name among the built peers. */
export const ENVOY = "envoy";

/** How an Envoy is served. */
export interface EnvoyOptions extends EnvoyNode {
  /** `host:port` of the control plane. */
  readonly ads: string;
  /** Delta instead of state of the world. */
  readonly delta: boolean;
  /** Whether to wait until it has everything; default true. */
  readonly ready?: boolean;
}

/** What Envoy says of a configuration. */
export type Verdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly reason: string };

/** One endpoint as Envoy has it now. */
export interface EnvoyHost {
  /** `address:port`, or the path of a pipe. */
  readonly address: string;
  readonly weight: number;
  readonly priority: number;
  /** `region/zone/subzone`, as much as is there. */
  readonly locality: string;
  /** `HEALTHY`, `DRAINING`, …, as EDS said. */
  readonly health: string;
  /** Its statistics, for example `rq_total`. */
  readonly stats: Readonly<Record<string, number>>;
}

/** A running Envoy. Disposing it ends it. */
export class Envoy implements AsyncDisposable {
  readonly process: Process;
  /** `host:port` of its admin interface. */
  readonly admin: string;
  readonly #folder: string;

  private constructor(process: Process, folder: string, admin: string) {
    this.process = process;
    this.#folder = folder;
    this.admin = admin;
  }

  /** Starts one that asks a control plane for everything; resolves once it serves all it was told. */
  static async start(options: EnvoyOptions): Promise<Envoy> {
    const envoy = await Envoy.run(bootstrapFor(options));
    try {
      if (options.ready ?? true) {
        await envoy.ready();
        // It is ready as well where it waited for an answer in vain.
        const answers = await envoy.stats("(cds|lds)\\.update_success$");
        if ([...answers.values()].some((count) => count === 0)) {
          throw new Error(`Envoy got no answer from ${options.ads}\n${envoy.process.describe()}`);
        }
      }
      return envoy;
    } catch (error) {
      await envoy[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts one with a bootstrap of your own, to which an admin address is added; resolves once that answers. */
  static async run(bootstrap: JsonObject): Promise<Envoy> {
    const folder = await Deno.makeTempDir({ prefix: "pinnace-envoy-" });
    const file = `${folder}/bootstrap.json`;
    const admin = { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } };
    await Deno.writeTextFile(file, JSON.stringify({ ...bootstrap, admin }));
    const process = Process.start({
      name: "envoy",
      command: binary(ENVOY),
      args: [
        ...["--config-path", file, "--admin-address-path", `${folder}/admin`],
        ...["--disable-hot-restart", "--concurrency", "1", "--log-level", "info"],
      ],
      cwd: folder,
    });
    try {
      const address = await process.expect("its admin address is open", async () => {
        if (process.ended !== undefined) return undefined;
        const written = await Deno.readTextFile(`${folder}/admin`);
        await (await fetch(`http://${written}/server_info`)).body?.cancel();
        return written;
      });
      return new Envoy(process, folder, address);
    } catch (error) {
      await process[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
      throw error;
    }
  }

  /** Waits until it serves: everything it was told of is there and warm. */
  async ready(): Promise<void> {
    await this.process.expect("it is ready", async () => {
      const response = await fetch(`http://${this.admin}/ready`);
      const said = (await response.text()).trim();
      if (!response.ok) throw new Error(said);
      return true;
    });
  }

  /** What it holds, endpoints included: `@type` of each part to that part. */
  async configDump(): Promise<ReadonlyMap<string, JsonObject>> {
    const { configs } = JSON.parse(await this.#get("/config_dump?include_eds"));
    return new Map((configs as JsonObject[]).map((part) => {
      const type = String(part["@type"]);
      return [type.slice(type.lastIndexOf(".") + 1), part];
    }));
  }

  /** Its counters and gauges whose names match, by name. */
  async stats(filter = ""): Promise<ReadonlyMap<string, number>> {
    const { stats } = JSON.parse(
      await this.#get(`/stats?format=json&filter=${encodeURIComponent(filter)}`),
    );
    const named = (stats as { name?: string; value?: number }[]).filter((s) =>
      s.name !== undefined && s.value !== undefined
    );
    return new Map(named.map(({ name, value }) => [name!, value!]));
  }

  /** One of its counters or gauges; 0 where there is none. */
  async stat(name: string): Promise<number> {
    return (await this.stats(`^${name.replaceAll(/[.|]/g, "\\$&")}$`)).get(name) ?? 0;
  }

  /** The endpoints of each of its clusters, by the cluster's name. */
  async hosts(): Promise<ReadonlyMap<string, readonly EnvoyHost[]>> {
    const { cluster_statuses } = JSON.parse(await this.#get("/clusters?format=json"));
    return new Map((cluster_statuses as ClusterStatus[]).map((cluster) => [
      cluster.name,
      (cluster.host_statuses ?? []).map(hostOf),
    ]));
  }

  /** The addresses that its listeners are bound to, by name. */
  async listeners(): Promise<ReadonlyMap<string, string>> {
    const { listener_statuses = [] } = JSON.parse(await this.#get("/listeners?format=json"));
    return new Map((listener_statuses as ListenerStatus[]).map(({ name, local_address }) => [
      name,
      addressOf(local_address),
    ]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #get(path: string): Promise<string> {
    const response = await fetch(`http://${this.admin}${path}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`envoy's ${path}: ${response.status} ${text.slice(0, 200)}`);
    return text;
  }
}

/** Envoy's verdict on a whole bootstrap, whose `static_resources` may be anything a control plane sends. */
export async function validate(bootstrap: JsonObject): Promise<Verdict> {
  const file = await Deno.makeTempFile({ prefix: "pinnace-envoy-", suffix: ".json" });
  try {
    await Deno.writeTextFile(file, JSON.stringify(bootstrap));
    const { success, stderr } = await new Deno.Command(binary(ENVOY), {
      args: ["--mode", "validate", "--config-path", file, "--log-level", "error"],
      stdin: "null",
      stderr: "piped",
    }).output();
    if (success) return { kind: "accepted" };
    return { kind: "refused", reason: new TextDecoder().decode(stderr).trim() };
  } finally {
    await Deno.remove(file);
  }
}

interface Address {
  readonly socket_address?: { readonly address: string; readonly port_value: number };
  readonly pipe?: { readonly path: string };
}

interface HostStatus {
  readonly address: Address;
  readonly weight?: number;
  readonly priority?: number;
  readonly locality?: { region?: string; zone?: string; sub_zone?: string };
  readonly health_status?: { readonly eds_health_status?: string };
  readonly stats?: readonly { readonly name: string; readonly value?: string }[];
}

interface ClusterStatus {
  readonly name: string;
  readonly host_statuses?: readonly HostStatus[];
}

interface ListenerStatus {
  readonly name: string;
  readonly local_address: Address;
}

function hostOf(status: HostStatus): EnvoyHost {
  const { region, zone, sub_zone } = status.locality ?? {};
  const stats = (status.stats ?? []).map(({ name, value }) => [name, Number(value ?? 0)] as const);
  return {
    address: addressOf(status.address),
    weight: status.weight ?? 1,
    priority: status.priority ?? 0,
    locality: [region, zone, sub_zone].filter((part) => part).join("/"),
    health: status.health_status?.eds_health_status ?? "UNKNOWN",
    stats: Object.fromEntries(stats),
  };
}

function addressOf({ socket_address, pipe }: Address): string {
  if (socket_address === undefined) return pipe?.path ?? "";
  return `${socket_address.address}:${socket_address.port_value}`;
}
