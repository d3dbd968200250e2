/**
 * A whole Pilot 1.5.10, the last that was an MCP sink, with one ResourceSource and nothing else.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { freePorts } from "./ports.ts";
import { Process } from "./process.ts";

/** An object as Pilot 1.5 shows it at its debug endpoint. */
export interface PilotObject {
  readonly type: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly Spec: Readonly<Record<string, unknown>>;
}

/** A running Pilot. */
export class Pilot15 implements AsyncDisposable {
  readonly process: Process;
  readonly #folder: string;
  readonly #http: number;

  private constructor(process: Process, folder: string, http: number) {
    this.process = process;
    this.#folder = folder;
    this.#http = http;
  }

  /** Starts it; resolves once its HTTP port is open, that is, once all its collections were answered. */
  static async start(source: string): Promise<Pilot15> {
    const folder = await Deno.makeTempDir({ prefix: "pinnace-pilot-" });
    const mesh = { configSources: [{ address: source }] };
    await Deno.writeTextFile(`${folder}/mesh.yaml`, JSON.stringify(mesh));
    const [http, grpc, monitoring] = freePorts(3) as [number, number, number];
    const process = Process.start({
      name: "pilot 1.5.10",
      command: binary("pilot-1.5"),
      args: [
        "discovery",
        "--registries=",
        `--meshConfig=${folder}/mesh.yaml`,
        "--networksConfig=NONE",
        `--httpAddr=127.0.0.1:${http}`,
        `--grpcAddr=127.0.0.1:${grpc}`,
        "--httpsAddr=",
        "--secureGrpcAddr=",
        `--monitoringAddr=127.0.0.1:${monitoring}`,
        "--ctrlz_port=0",
      ],
      cwd: folder,
      env: {
        POD_NAME: "pilot-1",
        POD_NAMESPACE: "istio-system",
        ISTIOD_ADDR: "",
        ENABLE_LEADER_ELECTION: "false",
      },
    });
    const pilot = new Pilot15(process, folder, http);
    try {
      await process.expect("its HTTP port is open", async () => {
        if (process.ended !== undefined) return undefined;
        const response = await fetch(`http://127.0.0.1:${http}/ready`);
        await response.body?.cancel();
        return response.ok;
      });
      return pilot;
    } catch (error) {
      await pilot[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Every object it holds, by `namespace/name`. */
  async objects(): Promise<ReadonlyMap<string, PilotObject>> {
    const objects = await this.allObjects();
    return new Map(objects.map((o) => [`${o.namespace}/${o.name}`, o]));
  }

  /** Every object it holds: several kinds may have one name. */
  async allObjects(): Promise<readonly PilotObject[]> {
    const list = await this.#debug("configz") as PilotObject[];
    return list.filter(({ name }) => name !== undefined);
  }

  /** Host names of the services that it made of them. */
  async hosts(): Promise<readonly string[]> {
    const list = await this.#debug("registryz") as { readonly hostname?: string }[];
    return list.flatMap((service) => service.hostname ?? []).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #debug(page: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.#http}/debug/${page}`);
    if (!response.ok) throw new Error(`${page} ${response.status}: ${await response.text()}`);
    return await response.json();
  }
}
