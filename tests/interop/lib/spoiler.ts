/**
 * A proxy between an xDS client and its server that makes answers wrong when it is told to, so that the
 * client must refuse them.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import { freePort } from "./ports.ts";
import { Process } from "./process.ts";

/** Which answers are made wrong. */
export type Spoiled = "cds" | "eds";

const TYPES = { cds: /\.Cluster$/, eds: /\.ClusterLoadAssignment$/ };

/** A running proxy; at first it passes on everything as it is. */
export class Spoiler implements AsyncDisposable {
  /** `host:port` where clients dial. */
  readonly address: string;
  readonly process: Process;

  private constructor(address: string, process: Process) {
    this.address = address;
    this.process = process;
  }

  /** Starts one in front of a server, `host:port`. */
  static async start(server: string): Promise<Spoiler> {
    const address = `127.0.0.1:${freePort()}`;
    const process = Process.start({
      name: "ads spoiler",
      command: binary("ads-spoiler"),
      args: ["-listen", address, "-upstream", server],
    });
    const spoiler = new Spoiler(address, process);
    try {
      await process.expectObject("it is ready", ({ event }) => event === "ready");
      return spoiler;
    } catch (error) {
      await spoiler[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes every answer of this type wrong from now on. */
  spoil(type: Spoiled): Promise<void> {
    return this.#command(`spoil ${type}`);
  }

  /** Passes on everything as it is from now on. */
  pass(): Promise<void> {
    return this.#command("pass");
  }

  /** Waits until a client refused an answer of this type; gives its reason. */
  async refusal(type: Spoiled): Promise<string> {
    const { reason } = await this.process.expectObject(
      `an answer of ${type} is refused`,
      (object) => object.event === "refused" && TYPES[type].test(String(object.type)),
    );
    return String(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }

  async #command(line: string): Promise<void> {
    const from = this.process.objects.length;
    await this.process.say(line);
    await this.process.expectObject(line, ({ event }) => event === "done", { from });
  }
}
