/**
 * `pinnace render`: the resources that sinks get, as Kubernetes would write them.
 *
 * @module
 */
import { dump } from "js-yaml";
import type { LoadedService } from "../config/services.ts";
import { renderResource } from "../convert/render.ts";
import type { Resource } from "../model/resource.ts";
import { EXIT } from "./exit.ts";
import { describeElsewhere, describeFindings, print, readConfig } from "./read_config.ts";

/** Options of {@link render}. */
export interface RenderOptions {
  readonly config: string;
  /** Only what these services (each as `namespace/name`) become, or the objects of these names; none: all. */
  readonly names: readonly string[];
}

/** One object, and the service that it comes of, both as `namespace/name`. */
interface Rendered {
  readonly service: string;
  readonly resource: Resource;
}

/**
 * Prints the resources as YAML documents, service by service in the order of their names; to standard
 * error the findings, and that other sources may give more. 1 if any finding is an error (what it is
 * about is left out) or a name is unknown, else 0.
 */
export async function render({ config, names }: RenderOptions): Promise<number> {
  const read = readConfig(config);
  const { findings } = read;
  await print(describeFindings(findings), Deno.stderr);
  const all = objectsOf(read.services);
  const isNamed = (name: string, { service, resource }: Rendered) =>
    name === service || name === resource.name;
  const unknown = names.filter((name) => !all.some((one) => isNamed(name, one)));
  for (const name of unknown) {
    await print(`no resource is named ${name}; names are namespace/name\n`, Deno.stderr);
  }
  const wanted = names.length === 0
    ? all
    : [...new Set(names.flatMap((name) => all.filter((one) => isNamed(name, one))))];
  for (const { resource } of wanted) {
    await print(`---\n${dump(renderResource(resource), { lineWidth: 100 })}`, Deno.stdout);
  }
  if (names.length === 0 || unknown.length > 0) {
    await print(describeElsewhere(read), Deno.stderr);
  }
  const failed = unknown.length > 0 || findings.some(({ severity }) => severity === "error");
  return failed ? EXIT.failure : EXIT.ok;
}

function objectsOf(services: readonly LoadedService[]): readonly Rendered[] {
  const sorted = services.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap(({ name, resources }) =>
    resources.map(({ resource }) => ({ service: name, resource }))
  );
}
