/**
 * The xDS client with go-control-plane's types as a process, and what it says it took.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { type JsonLine, Process } from "./process.ts";

/** A resource as the client decoded it. */
export interface XdsResource {
  readonly name: string;
  readonly version: string;
  /** `type_url` of the Any in the response. */
  readonly anyType: string;
  /** `type_url` of the body inside. */
  readonly bodyType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One response as the client took it. */
export interface XdsResponse extends JsonLine {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly controlPlane: string;
  readonly resources: readonly XdsResource[];
  readonly removed: readonly string[];
  /** What the client holds of the type after it: name to version. */
  readonly held: Readonly<Record<string, string>>;
  /** Why it was refused; empty: it was not. */
  readonly nack: string;
}

/** How a client subscribes. */
export interface XdsOptions {
  readonly mode: "sotw" | "delta";
  readonly types: readonly string[];
  /** Absent: all (the wildcard). */
  readonly names?: readonly string[];
  /** Refuses responses with a resource whose name matches. */
  readonly refuse?: string;
}

/** A running client. */
export class XdsClient implements AsyncDisposable {
  readonly process: Process;

  constructor(server: string, options: XdsOptions) {
    this.process = Process.start({
      name: `xds client (${options.mode})`,
      command: binary("xds-client"),
      args: [
        ...["-address", server, "-mode", options.mode, "-types", options.types.join(",")],
        ...(options.names === undefined ? [] : ["-names", options.names.join(",")]),
        ...(options.refuse === undefined ? [] : ["-refuse", options.refuse]),
      ],
    });
  }

  /** Every response so far, of one type or of all. */
  responses(type?: string): readonly XdsResponse[] {
    return this.process.objects.filter((o) =>
      o.event === "response" && (type === undefined || o.type === type)
    ) as XdsResponse[];
  }

  /** Why streams ended so far. */
  get ends(): readonly string[] {
    return this.process.objects.filter((o) => o.event === "stream-end").map((o) => String(o.error));
  }

  /** How many streams were opened so far. */
  get streams(): number {
    return this.process.objects.filter((o) => o.event === "stream-open").length;
  }

  /** Waits for the `index`-th response (from 0) of a type. */
  response(type: string, index: number): Promise<XdsResponse> {
    return this.process.expect(`response ${index} of ${type}`, () => this.responses(type)[index]);
  }

  /** Waits until what it holds of a type are exactly these; gives their versions. */
  async holds(type: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const wanted = [...names].sort().join(" ");
    return await this.process.expect(`it holds exactly ${wanted}`, () => {
      const held = this.responses(type).at(-1)?.held;
      return held !== undefined && Object.keys(held).sort().join(" ") === wanted && held;
    });
  }

  /** Ends the stream; the client opens another with what it holds. Resolves once that is open. */
  async reconnect(): Promise<void> {
    const { streams } = this;
    await this.process.say("reconnect");
    await this.process.expect("it has another stream", () => this.streams > streams);
  }

  /** Subscribes to further names of a type. */
  subscribe(type: string, names: readonly string[]): Promise<void> {
    return this.process.say(["subscribe", type, ...names].join(" "));
  }

  /** Ends the subscription to names of a type. */
  unsubscribe(type: string, names: readonly string[]): Promise<void> {
    return this.process.say(["unsubscribe", type, ...names].join(" "));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}
