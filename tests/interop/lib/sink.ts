/**
 * The sink of Istio 1.5.10 as a process, dialling us or dialled by us, and what it says it took.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { type JsonLine, Process } from "./process.ts";
import { SERVICE_ENTRIES } from "./services.ts";

/** A resource as Istio's sink decoded it. */
export interface SinkResource {
  readonly name: string;
  readonly version: string;
  readonly typeUrl: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One response as the sink took it. */
export interface SinkChange extends JsonLine {
  readonly collection: string;
  readonly version: string;
  readonly incremental: boolean;
  readonly resources: readonly SinkResource[];
  readonly removed: readonly string[];
  /** What the sink holds of the collection after it: name to version. */
  readonly held: Readonly<Record<string, string>>;
  readonly nack?: string;
}

/** How a sink asks. */
export interface SinkOptions {
  /** Absent: ServiceEntries. `pilot`: all that a Pilot 1.5 asks for. */
  readonly collections?: "pilot";
  readonly incremental?: boolean;
  /** Refuses responses with a resource whose name matches. */
  readonly refuse?: string;
  /** Of a sink that listens: files with its certificate and key, and with the CA of its clients. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** Of a sink that dials: files with the source's CA, and with the certificate and key it shows. */
  readonly trust?: { readonly ca: string; readonly cert?: string; readonly key?: string };
}

/** A running sink. */
export class Sink implements AsyncDisposable {
  readonly process: Process;

  private constructor(process: Process) {
    this.process = process;
  }

  /** A sink that dials a ResourceSource. */
  static dialling(source: string, options: SinkOptions = {}): Sink {
    const args = ["-address", source, ...argumentsOf(options)];
    const command = binary("mcp-sink-client");
    return new Sink(Process.start({ name: "sink client", command, args }));
  }

  /** A sink that listens as a ResourceSink; resolves once it does. */
  static async listening(address: string, options: SinkOptions = {}): Promise<Sink> {
    const args = ["-address", address, ...argumentsOf(options)];
    const command = binary("mcp-sink-server");
    const sink = new Sink(Process.start({ name: `sink server ${address}`, command, args }));
    await sink.process.expectObject("it listens", (o) => o.event === "listening");
    return sink;
  }

  /** Every response so far, of one collection or of all. */
  changes(collection?: string): readonly SinkChange[] {
    return this.process.objects.filter((o) =>
      o.event === "change" && (collection === undefined || o.collection === collection)
    ) as SinkChange[];
  }

  /** How many streams were opened so far. */
  get streams(): number {
    return this.opened.length;
  }

  /** What is known of each stream that was opened: `headers`, `from`, `certificate`. */
  get opened(): readonly JsonLine[] {
    return this.process.objects.filter((o) => o.event === "stream-open");
  }

  /** Waits until the sink took the `index`-th response (from 0) with ServiceEntries. */
  change(index: number): Promise<SinkChange> {
    const what = `response ${index} with ServiceEntries`;
    return this.process.expect(what, () => this.changes(SERVICE_ENTRIES)[index]);
  }

  /** Waits until what the sink holds are exactly these ServiceEntries; gives their versions. */
  async holds(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const wanted = [...names].sort().join(" ");
    return await this.process.expect(`it holds exactly ${wanted}`, () => {
      const held = this.changes(SERVICE_ENTRIES).at(-1)?.held;
      return held !== undefined && Object.keys(held).sort().join(" ") === wanted && held;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

function argumentsOf(options: SinkOptions): string[] {
  return [
    ...(options.collections === undefined ? [] : ["-collections", options.collections]),
    ...(options.incremental === true ? ["-incremental"] : []),
    ...(options.refuse === undefined ? [] : ["-refuse", options.refuse]),
    ...(options.tls === undefined ? [] : ["-cert", options.tls.cert, "-key", options.tls.key]),
    ...Object.entries(options.trust ?? {}).flatMap(([flag, file]) => [`-${flag}`, file]),
    ...(options.tls?.clientCa === undefined ? [] : ["-client-ca", options.tls.clientCa]),
  ];
}
