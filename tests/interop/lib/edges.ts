/**
 * Edges and the receiver that they dial: Pinnaces in all places.
 *
 * @module
 */
import { Pinnace, type PinnaceConfig, type PinnaceOptions } from "./pinnace.ts";
import { freePorts } from "./ports.ts";
import type { Process } from "./process.ts";

/** A receiver, with the address that edges dial. */
export interface Receiver {
  readonly pinnace: Pinnace;
  /** `host:port` of its ResourceSink. */
  readonly dialled: string;
}

/** The configuration of a receiver that is dialled at `host`, with more of `receive` and of everything else. */
export function receiving(
  host = "127.0.0.1",
  receive: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): { readonly config: PinnaceConfig; readonly dialled: string } {
  const [port] = freePorts(1);
  const dialled = `${host}:${port}`;
  const insecure = host.startsWith("127.") ? {} : { insecure: true };
  const config = {
    instance: "receiver",
    services: [],
    receive: { address: dialled, ...insecure, ...receive },
    ...more,
  };
  return { config, dialled };
}

/** The configuration of an edge that dials a receiver and can be dialled by nobody but this machine. */
export function edge(
  instance: string,
  dialled: string,
  services: PinnaceConfig["services"],
  more: Readonly<Record<string, unknown>> = {},
): PinnaceConfig {
  return {
    instance,
    services,
    sinks: [{ name: "hub", address: dialled, heartbeat: "1s" }],
    ...more,
  };
}

/** Starts an edge; where it runs in a network of its own its admin listener cannot be asked from here. */
export async function startEdge(
  config: PinnaceConfig,
  options: PinnaceOptions = {},
): Promise<Pinnace> {
  if (options.prefix === undefined) return await Pinnace.start(config, options);
  const pinnace = await Pinnace.prepare(config, options);
  await pinnace.run({ ready: false });
  return pinnace;
}

/** Log lines of a process with this message, as objects. */
export function said(process: Process, message: string): readonly Record<string, unknown>[] {
  return process.objects.filter((line) => line.message === message || line.msg === message);
}
