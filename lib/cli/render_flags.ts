/**
 * The options of `pinnace render` as a person writes them.
 *
 * @module
 */
import { type Command, Option } from "commander";
import type { ViewKind } from "../view/client_views.ts";
import type { ProbeFormat } from "./probe_flags.ts";

/** Options as they are written. */
export interface RenderFlags {
  readonly config: string;
  readonly as?: ViewKind;
  readonly type?: readonly string[];
  readonly resource?: readonly string[];
  readonly format?: ProbeFormat;
  readonly resolve?: boolean;
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** Gives a command the argument and options of rendering. */
export function addRenderOptions(command: Command): Command {
  return command
    .argument("[name...]", "only what these services become, each as namespace/name")
    .addOption(
      new Option("--as <kind>", "what such a client gets, in place of what sinks get")
        .choices(["envoy", "grpc", "dubbo"]),
    )
    .option("--type <name>", "only CDS, EDS, LDS or RDS (with --as); repeatable", collect)
    .option("--resource <name>", "only resources of this name (with --as); repeatable", collect)
    .addOption(
      new Option("--format <format>", "how resources are printed (with --as; default: yaml)")
        .choices(["text", "names", "yaml", "json"]),
    )
    .option("--resolve", "look names up for clients that cannot (with --as)")
    .description("print the resources that sinks get, or what other clients do, as YAML");
}

/** Renders as the options say, or gives what is wrong with them. */
export async function renderWith(
  { config, as, type = [], resource = [], format, resolve = false }: RenderFlags,
  names: readonly string[],
): Promise<number | string> {
  if (as === undefined) {
    const one = Object.entries({ type: type[0], resource: resource[0], format, resolve })
      .find(([, value]) => value !== undefined && value !== false);
    if (one !== undefined) return `--${one[0]} goes with --as envoy, grpc or dubbo`;
    return await (await import("./render.ts")).render({ config, names });
  }
  if (names.length > 0) {
    return `with --as what is wanted is named by --resource, for services share resources; ${
      names[0]
    } is not`;
  }
  const { renderAs } = await import("./render_as.ts");
  return await renderAs({
    config,
    as,
    types: type,
    resources: resource,
    format: format ?? "yaml",
    resolve,
  });
}
