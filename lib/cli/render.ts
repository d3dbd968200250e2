/**
 * `pinnace render`: the resources that sinks get, as Kubernetes would write them.
 *
 * @module
 */
import { dump } from "js-yaml";
import { renderResource } from "../convert/render.ts";
import type { CollectionChange } from "../model/change.ts";
import { EXIT } from "./exit.ts";
import { describeElsewhere, describeFindings, print, readConfig } from "./read_config.ts";

/** Options of {@link render}. */
export interface RenderOptions {
  readonly config: string;
  /** Only these, each as `namespace/name`; none: all. */
  readonly names: readonly string[];
}

/**
 * Prints the resources as YAML documents in the order of their names; to standard error the findings,
 * and that other sources may give more. 1 if any finding is an error (what it is about is left out) or
 * a name is unknown, else 0.
 */
export async function render({ config, names }: RenderOptions): Promise<number> {
  const read = readConfig(config);
  const { result, findings } = read;
  await print(describeFindings(findings), Deno.stderr);
  const resources = new Map(result.changes.flatMap(resourcesOf));
  const unknown = names.filter((name) => !resources.has(name));
  for (const name of unknown) {
    await print(`no resource is named ${name}; names are namespace/name\n`, Deno.stderr);
  }
  const wanted = names.length === 0 ? [...resources.keys()].sort() : names;
  for (const name of wanted) {
    const resource = resources.get(name);
    if (resource === undefined) continue;
    await print(`---\n${dump(renderResource(resource), { lineWidth: 100 })}`, Deno.stdout);
  }
  if (names.length === 0 || unknown.length > 0) {
    await print(describeElsewhere(read), Deno.stderr);
  }
  const failed = unknown.length > 0 || findings.some(({ severity }) => severity === "error");
  return failed ? EXIT.failure : EXIT.ok;
}

/** The resources of a change; services, which are no resources, are passed over. */
function resourcesOf({ kind, names, versions, lengths, bytes }: CollectionChange) {
  if (kind === "Service") return [];
  let at = 0;
  return names.map((name, i) => {
    const body = bytes.subarray(at, at += lengths[i]!);
    return [name, { name, version: versions[i]!, bytes: body }] as const;
  });
}
