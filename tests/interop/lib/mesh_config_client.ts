/**
 * The MCP client that Istio 1.1 kept of Istio 1.0, as a process that dials AggregatedMeshConfigService,
 * and what it says it took.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { type JsonLine, Process } from "./process.ts";

/** The type URL of ServiceEntry as Istio 1.0 asks for it. */
export const SERVICE_ENTRY_MESSAGE = "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry";

/** One response as the client took it. */
export interface MeshConfigChange extends JsonLine {
  /** As it was asked for. */
  readonly collection: string;
  readonly version: string;
  readonly resources: readonly {
    readonly name: string;
    readonly version: string;
    readonly typeUrl: string;
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly body: Readonly<Record<string, unknown>>;
  }[];
  /** What the client holds of the type after it: name to version. */
  readonly held: Readonly<Record<string, string>>;
  readonly nack?: string;
}

/** How a client asks. */
export interface MeshConfigClientOptions {
  /** Type URLs or collections. */
  readonly types: readonly string[];
  /** Refuses responses with a resource whose name matches. */
  readonly refuse?: string;
}

/** A running client. Its node says the annotation `purpose: interop`. */
export class MeshConfigClient implements AsyncDisposable {
  readonly process: Process;

  constructor(address: string, { types, refuse }: MeshConfigClientOptions) {
    this.process = Process.start({
      name: "mesh config client",
      command: binary("mesh-config-client"),
      args: [
        ...["-address", address, "-types", types.join(",")],
        ...(refuse === undefined ? [] : ["-refuse", refuse]),
      ],
    });
  }

  /** Every response so far to what was asked for as `type`. */
  changes(type: string): readonly MeshConfigChange[] {
    return this.process.objects.filter((o) =>
      o.event === "change" && o.collection === type
    ) as MeshConfigChange[];
  }

  /** Waits until what the client holds of a type are exactly these; gives their versions. */
  async holds(type: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const wanted = [...names].sort().join(" ");
    return await this.process.expect(`it holds exactly ${wanted}`, () => {
      const held = this.changes(type).at(-1)?.held;
      return held !== undefined && Object.keys(held).sort().join(" ") === wanted && held;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
