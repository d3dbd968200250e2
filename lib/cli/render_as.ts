/**
 * `pinnace render --as`: what an Envoy, a gRPC program or a Dubbo application gets of a configuration,
 * without a server.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { XDS_TYPES, type XdsType } from "../model/xds_type.ts";
import { applyChanges } from "../snapshot/apply.ts";
import { emptySnapshot, type Snapshot } from "../snapshot/snapshot.ts";
import { Catalogues } from "../view/catalogue.ts";
import type { ViewKind } from "../view/client_views.ts";
import { NO_ADDRESSES } from "../view/recipe.ts";
import { runThrough } from "../view/run_through.ts";
import type { Addresses } from "../view/served_service.ts";
import type { XdsView } from "../view/view_maker.ts";
import { resolveHost } from "./dialling.ts";
import { EXIT } from "./exit.ts";
import { findAddresses } from "./name_addresses.ts";
import type { ProbeFormat } from "./probe_flags.ts";
import type { ProbedResource } from "./probe_push.ts";
import { resourceLabel, resourceObject, resourceText, resourceYaml } from "./probe_resource.ts";
import { Progress } from "./progress.ts";
import { describeElsewhere, describeFindings, type ReadConfig, readConfig } from "./read_config.ts";
import { safeJson } from "./safe_json.ts";
import { paint, type Screen, screenOf, visible } from "./terminal.ts";
import { untilTold } from "./until_told.ts";
import { CLIENT_NAMES, VIEW_MAKERS } from "./view_makers.ts";
import { xdsTypeNamed } from "./xds_type_named.ts";

/** Options of {@link renderAs}, as they are written. */
export interface RenderAsOptions {
  readonly config: string;
  readonly as: ViewKind;
  /** Only these types; none: all. */
  readonly types: readonly string[];
  /** Only resources of these names, of whatever type; none: all. */
  readonly resources: readonly string[];
  readonly format: ProbeFormat;
  /** Whether names are looked up for clients that cannot. */
  readonly resolve: boolean;
}

/** Where it writes, and how names are looked up. */
export interface RenderAsWith {
  readonly out: Screen;
  readonly err: Screen;
  /** Rejects where there is no address. */
  readonly look: (host: string) => Promise<readonly string[]>;
  readonly signal: AbortSignal;
}

/** Names that are listed where there are many. */
const NAMED = 3;

/**
 * Prints each resource, type by type (CDS, EDS, LDS, RDS), in the order of names; findings of the
 * configuration and of the view to standard error. 0; 1 where a finding is an error or a name is
 * unknown; 2 where a type is.
 */
export async function renderAs(options: RenderAsOptions): Promise<number> {
  using told = untilTold();
  const { signal } = told;
  const [out, err] = [screenOf(Deno.stdout), screenOf(Deno.stderr)];
  try {
    return await renderAsWith(options, { out, err, look: resolveHost, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    await err.write("error: stopped while names were looked up\n");
    return EXIT.failure;
  }
}

/** {@link renderAs} with what it needs handed in. Rejects with the signal's reason where it aborts. */
export async function renderAsWith(
  options: RenderAsOptions,
  means: RenderAsWith,
): Promise<number> {
  const { out, err } = means;
  const types = readTypes(options.types);
  if (typeof types === "string") {
    await err.write(`error: ${types}\n`);
    return EXIT.usage;
  }
  const read = readConfig(options.config);
  await err.write(describeFindings(read.findings));
  const snapshot = snapshotOf(read);
  if (snapshot === undefined) return EXIT.failure;
  const { view, notes } = await viewOf(snapshot, options, means);
  for (const note of notes) await err.write(`${visible(note)}\n`);
  await err.write(describeFindings(findingsOf(view, options.as)));
  const all = types.map((type) => ({ type, found: resourcesOf(view, type, options.resources) }));
  for (const { type, found } of all) await out.write(printed(type, found, options, out.colours));
  const known = new Set(all.flatMap(({ found }) => found.map(({ name }) => name)));
  const unknown = options.resources.filter((name) => !known.has(name));
  for (const name of unknown) {
    const what = types.length === 1 ? types[0]!.name : "resource";
    await err.write(`no ${what} for ${CLIENT_NAMES[options.as]} is named ${visible(name)}\n`);
  }
  await err.write(describeElsewhere(read));
  const failed = unknown.length > 0 || read.findings.some(({ severity }) => severity === "error");
  return failed ? EXIT.failure : EXIT.ok;
}

function readTypes(names: readonly string[]): readonly XdsType[] | string {
  if (names.length === 0) return XDS_TYPES;
  const types = names.map(xdsTypeNamed);
  const wrong = types.indexOf(undefined);
  if (wrong >= 0) {
    const known = XDS_TYPES.map(({ shortName }) => shortName).join(", ");
    return `--type is one of ${known}, not ${visible(names[wrong]!)}`;
  }
  return XDS_TYPES.filter((type) => types.includes(type));
}

/** The configuration as it would be published; undefined where nothing could be made of it. */
function snapshotOf({ result: { changes, settings } }: ReadConfig): Snapshot | undefined {
  if (settings === undefined) return undefined;
  return applyChanges(emptySnapshot(settings), changes, settings, { full: true });
}

/** The view, and what there is to say of names that it is made of. */
async function viewOf(
  snapshot: Snapshot,
  { as, resolve }: RenderAsOptions,
  { err, look, signal }: RenderAsWith,
): Promise<{ readonly view: XdsView; readonly notes: readonly string[] }> {
  const catalogue = new Catalogues().of(snapshot);
  const maker = VIEW_MAKERS[as]();
  const make = (addresses: Addresses) => runThrough(maker.making(catalogue, addresses));
  const unresolved = make(NO_ADDRESSES);
  const { lookUps } = unresolved;
  if (lookUps.size === 0) return { view: unresolved, notes: [] };
  if (!resolve) {
    const names = listed([...lookUps].sort());
    const them = lookUps.size === 1 ? "it" : "them";
    return {
      view: unresolved,
      notes: [`a server would look up ${names} for these clients; --resolve looks ${them} up now`],
    };
  }
  const progress = new Progress(err);
  const onNext = (done: number, all: number) =>
    progress.show(`looking names up: ${done} of ${all}`);
  try {
    const { addresses, failures } = await findAddresses(lookUps, { look, signal, onNext });
    const notes = Array.from(failures, ([name, why]) => `warning: ${name} is not found: ${why}`);
    return { view: make(addresses), notes };
  } finally {
    await progress.clear();
  }
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function findingsOf({ findings }: XdsView, as: ViewKind): Finding[] {
  return findings.map(({ key, rule, message }) => ({
    severity: "warning",
    rule,
    subject: key,
    message: `for ${CLIENT_NAMES[as]}: ${message}`,
  }));
}

function resourcesOf(
  { collections }: XdsView,
  { name: type, typeUrl }: XdsType,
  names: readonly string[],
): readonly ProbedResource[] {
  const collection = collections.get(type)!;
  const wanted = new Set(names);
  return Array.from(collection, ({ name, version, bytes }): ProbedResource => ({
    name,
    version,
    content: { kind: "any", any: { typeUrl, value: bytes } },
  })).filter(({ name }) => names.length === 0 || wanted.has(name));
}

function printed(
  { typeUrl }: XdsType,
  resources: readonly ProbedResource[],
  { format }: RenderAsOptions,
  colours: boolean,
): string {
  switch (format) {
    case "text": {
      if (resources.length === 0) return "";
      const head = paint({ text: typeUrl, style: "bold" }, colours);
      const lines = resources.map((resource) => resourceText(resource, colours));
      return `${[head, ...lines].join("\n")}\n`;
    }
    case "names":
      return resources.map(({ name }) => `${visible(resourceLabel(typeUrl, name))}\n`).join("");
    case "yaml":
      return resources.map(resourceYaml).join("");
    case "json":
      return resources.map((resource) => `${safeJson(resourceObject(resource))}\n`).join("");
  }
}
