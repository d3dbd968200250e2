/**
 * A whole istiod, unmodified, that takes its configuration from one xDS source, beside a cluster that
 * has nothing.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { EmptyKube } from "./empty_kube.ts";
import { Metrics } from "./metrics.ts";
import { freePorts } from "./ports.ts";
import { Process } from "./process.ts";

/** An object as istiod shows it at its debug endpoint. */
export interface IstioObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Counters that move whenever configuration from a source makes istiod do work, or push to its proxies. */
export interface Disturbance {
  /** Objects that came as new, changed or removed. */
  readonly updates: number;
  /** Pushes to proxies (counted also with no proxy connected). */
  readonly pushes: number;
}

/** A running istiod. */
export class Istiod implements AsyncDisposable {
  readonly process: Process;
  /** `host:port` of its xDS, in plaintext: it gives what it has to whoever asks as another istiod would. */
  readonly xds: string;
  readonly #kube: EmptyKube;
  readonly #folder: string;
  readonly #http: number;
  readonly #monitoring: number;

  private constructor(
    process: Process,
    parts: { kube: EmptyKube; folder: string; http: number; grpc: number; monitoring: number },
  ) {
    this.xds = `127.0.0.1:${parts.grpc}`;
    this.process = process;
    this.#kube = parts.kube;
    this.#folder = parts.folder;
    this.#http = parts.http;
    this.#monitoring = parts.monitoring;
  }

  /**
   * Starts it with `xds://<source>` as its only source; resolves once it is ready, that is, was answered
   * all it asked. `more`: further keys of the source, for example `tlsSettings`; `env`: further variables.
   */
  static async start(
    source: string,
    more: Readonly<Record<string, unknown>> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<Istiod> {
    const kube = new EmptyKube();
    const folder = await Deno.makeTempDir({ prefix: "pinnace-istiod-" });
    const mesh = { configSources: [{ address: `xds://${source}`, ...more }] };
    await Deno.writeTextFile(`${folder}/mesh.yaml`, JSON.stringify(mesh));
    await Deno.writeTextFile(`${folder}/kubeconfig`, kube.kubeconfig);
    const [http, grpc, monitoring] = freePorts(3) as [number, number, number];
    const process = Process.start({
      name: "istiod",
      command: binary("istiod"),
      args: flags({
        registries: "Kubernetes",
        kubeconfig: `${folder}/kubeconfig`,
        meshConfig: `${folder}/mesh.yaml`,
        networksConfig: "NONE",
        httpAddr: `127.0.0.1:${http}`,
        grpcAddr: `127.0.0.1:${grpc}`,
        httpsAddr: "",
        secureGRPCAddr: "",
        monitoringAddr: `127.0.0.1:${monitoring}`,
        ctrlz_port: "0",
      }),
      cwd: folder,
      env: {
        POD_NAME: "istiod-1",
        POD_NAMESPACE: "istio-system",
        ENABLE_CA_SERVER: "false",
        PILOT_CERT_PROVIDER: "none",
        PILOT_ENABLE_ANALYSIS: "false",
        INJECTION_WEBHOOK_CONFIG_NAME: "",
        VALIDATION_WEBHOOK_CONFIG_NAME: "",
        UNSAFE_ENABLE_ADMIN_ENDPOINTS: "true",
        ...env,
      },
    });
    const istiod = new Istiod(process, { kube, folder, http, grpc, monitoring });
    try {
      await process.expect("/ready is 200", async () => {
        if (process.ended !== undefined) return undefined;
        const response = await fetch(`http://127.0.0.1:${http}/ready`);
        await response.body?.cancel();
        return response.ok;
      });
      return istiod;
    } catch (error) {
      await istiod[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Every object it holds, by `namespace/name`. */
  async objects(): Promise<ReadonlyMap<string, IstioObject>> {
    const objects = await this.allObjects();
    return new Map(objects.map((o) => [`${o.metadata.namespace}/${o.metadata.name}`, o]));
  }

  /** Every object it holds: several kinds may have one name. */
  async allObjects(): Promise<readonly IstioObject[]> {
    const response = await fetch(`http://127.0.0.1:${this.#http}/debug/configz`);
    if (!response.ok) throw new Error(`configz ${response.status}: ${await response.text()}`);
    return await response.json() as IstioObject[];
  }

  /** How often it was disturbed since it started. */
  async disturbance(): Promise<Disturbance> {
    const metrics = await Metrics.scrape(`http://127.0.0.1:${this.#monitoring}/metrics`);
    return {
      updates: metrics.sum("pilot_inbound_updates"),
      pushes: metrics.sum("pilot_debounce_time_count"),
    };
  }

  /** Number of responses with ServiceEntries that it received since it started. */
  responses(): number {
    const received = /\badsc\b.*\bReceived\b.*type=networking\.istio\.io\/\w+\/ServiceEntry/;
    return this.process.text.filter((line) => received.test(line)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await this.#kube[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return ["discovery", ...Object.entries(values).map(([name, value]) => `--${name}=${value}`)];
}
