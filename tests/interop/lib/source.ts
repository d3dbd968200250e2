/**
 * The source of Istio 1.5.10 as a process, as Galley runs it, that dials a ResourceSink, and what it
 * says of the answers.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { Process } from "./process.ts";

/** ServiceEntries: `namespace/name` to the address of the one endpoint; "" is no address. */
export type Entries = Readonly<Record<string, string>>;

/** A running source. */
export class Source implements AsyncDisposable {
  readonly process: Process;

  private constructor(process: Process) {
    this.process = process;
  }

  /** A source that dials a ResourceSink. */
  static dialling(
    sink: string,
    options: { readonly incremental?: boolean; readonly prefix?: readonly string[] } = {},
  ): Source {
    const { incremental = false, prefix = [] } = options;
    const flags = ["-dial", sink, ...(incremental ? ["-incremental"] : [])];
    const [command, ...args] = [...prefix, binary("mcp-source"), ...flags];
    return new Source(Process.start({ name: "Istio's source", command: command!, args }));
  }

  /** Makes these all that it has. */
  async publish(entries: Entries): Promise<void> {
    await this.process.say(JSON.stringify(entries));
  }

  /** How many of its pushes were acknowledged and refused so far. */
  answers(): { readonly acks: number; readonly nacks: number } {
    const count = (event: string) => this.process.objects.filter((o) => o.event === event).length;
    return { acks: count("ack"), nacks: count("nack") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
