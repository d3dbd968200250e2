/**
 * What a service says of its traffic, as written → as the model has it, and what is wrong with it in
 * the light of its endpoints.
 *
 * @module
 */
import { hasLabels, isWithin } from "../model/in_service.ts";
import type { Endpoint, Service } from "../model/service.ts";
import { nearest } from "./nearest.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import type { ServiceInput } from "./schema_service.ts";
import { parseShare } from "./schema_traffic.ts";

type Labels = Readonly<Record<string, string>>;

/** The fields of a service that are about its traffic. */
export type TrafficFields = Pick<Service, "subsets" | "split" | "failover" | "minHealthy">;

/** What was read, and what is to be said of it. */
export interface NormalisedTraffic {
  readonly fields: TrafficFields;
  readonly problems: readonly Problem[];
}

/** The label that a name of `split` means which `subsets` does not have. */
const VERSION = "version";

/** Fills in the subsets that `split` implies. `endpoints`: undefined where none are written. */
export function normaliseTraffic(
  input: ServiceInput,
  endpoints: readonly Endpoint[] | undefined,
): NormalisedTraffic {
  const { split, failover, minHealthy } = input;
  const subsets = subsetsOf(input);
  const fields = {
    ...(subsets.size === 0 ? {} : { subsets: Object.fromEntries(subsets) }),
    ...(split === undefined ? {} : { split: sorted(split) }),
    ...(failover === undefined ? {} : { failover }),
    ...(minHealthy === undefined ? {} : { minHealthy: parseShare(minHealthy) }),
  };
  return {
    fields,
    problems: [
      ...checkSubsets(input, subsets, endpoints),
      ...checkFailover(input, endpoints ?? []),
      ...checkMinHealthy(input),
    ],
  };
}

/** Those written and those implied, in the order of their names. */
function subsetsOf({ subsets = {}, split = {} }: ServiceInput): ReadonlyMap<string, Labels> {
  const implied = Object.keys(split).filter((name) => !Object.hasOwn(subsets, name));
  const all: [string, Labels][] = [
    ...Object.entries(subsets).map(([name, labels]): [string, Labels] => [name, sorted(labels)]),
    ...implied.map((name): [string, Labels] => [name, { [VERSION]: name }]),
  ];
  return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A subset that nobody is in is a mistake: who is sent there gets nothing. A selector's endpoints are not known here. */
function checkSubsets(
  input: ServiceInput,
  subsets: ReadonlyMap<string, Labels>,
  endpoints: readonly Endpoint[] | undefined,
): Problem[] {
  if (endpoints === undefined && input.workloadSelector !== undefined) return [];
  return [...subsets].flatMap(([name, labels]) => {
    if (endpoints?.some((endpoint) => hasLabels(endpoint, labels)) === true) return [];
    const isWritten = input.subsets !== undefined && Object.hasOwn(input.subsets, name);
    const path: Path = isWritten ? ["subsets", name] : ["split", name];
    return [nobodyIn(name, labels, path, { isWritten, subsets, endpoints: endpoints ?? [] })];
  });
}

interface Known {
  readonly isWritten: boolean;
  readonly subsets: ReadonlyMap<string, Labels>;
  readonly endpoints: readonly Endpoint[];
}

function nobodyIn(name: string, labels: Labels, path: Path, known: Known): Problem {
  const { endpoints, isWritten, subsets } = known;
  if (endpoints.length === 0) {
    const message = `there is no endpoint, so none is in the subset ${name}`;
    return problem("pinnace/empty-subset", path, message, "give the service `endpoints`");
  }
  const said = Object.entries(labels).map(([key, value]) => `${key}: ${value}`).join(", ");
  const plural = Object.keys(labels).length === 1 ? "label" : "labels";
  const message = `no endpoint has the ${plural} ${said}`;
  const wrong = Object.keys(labels).find((key) =>
    !endpoints.some((endpoint) => endpoint.labels[key] === labels[key])
  );
  const values = valuesOf(endpoints, wrong);
  const names = isWritten ? values : [...new Set([...values, ...subsets.keys()])];
  const meant = wrong === undefined
    ? undefined
    : nearest(labels[wrong]!, names.filter((one) => one !== labels[wrong]));
  const hint = meant !== undefined
    ? `did you mean ${meant}?`
    : values.length > 0
    ? `endpoints have ${wrong}: ${values.slice(0, 8).join(", ")}${values.length > 8 ? ", …" : ""}`
    : isWritten
    ? "label endpoints so"
    : `label endpoints so, or say under \`subsets\` what ${name} is`;
  return problem("pinnace/empty-subset", path, message, hint);
}

/** Words that a mistyped one is held against at most. */
const MOST_COMPARED = 100;

/** Values that endpoints have of a label, sorted; the first of them. */
function valuesOf(endpoints: readonly Endpoint[], key: string | undefined): readonly string[] {
  if (key === undefined) return [];
  const values = new Set(endpoints.flatMap(({ labels }) => labels[key] ?? []));
  return [...values].sort().slice(0, MOST_COMPARED);
}

function checkFailover(
  { failover = [], workloadSelector }: ServiceInput,
  endpoints: readonly Endpoint[],
): Problem[] {
  if (failover.length === 0) return [];
  if (endpoints.length === 0) {
    const why = workloadSelector === undefined ? "the service has none" : "a selector picks them";
    const message = `\`failover\` orders the endpoints written here, and ${why}`;
    return [never(["failover"], message)];
  }
  const localities = [...new Set(endpoints.map(({ locality }) => locality))].filter(Boolean);
  const known = [...new Set(localities.flatMap(withOuter))].slice(0, MOST_COMPARED);
  return failover.flatMap((one, index) => {
    const path = ["failover", index];
    const wider = failover.slice(0, index).find((earlier) => isWithin(one, earlier));
    if (wider !== undefined) {
      const message = `${one} never counts: ${wider} comes before it and holds it`;
      return [never(path, message, one === wider ? "remove one" : "put it before the wider one")];
    }
    if (localities.some((locality) => isWithin(locality, one))) return [];
    const meant = nearest(one, known);
    return [never(
      path,
      `no endpoint is in ${one}`,
      meant === undefined ? undefined : `did you mean ${meant}?`,
    )];
  });
}

function checkMinHealthy({ minHealthy, endpoints = [] }: ServiceInput): Problem[] {
  if (minHealthy === undefined || endpoints.length > 0) return [];
  return [
    never(["minHealthy"], "`minHealthy` is about the endpoints written here: there are none"),
  ];
}

/** A locality and those that it is within. */
function withOuter(locality: string): string[] {
  const parts = locality.split("/");
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}

function never(path: Path, message: string, hint?: string): Problem {
  return { ...problem("config/never", path, message, hint), severity: "warning" };
}

function sorted<V>(map: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.keys(map).sort().map((key) => [key, map[key]!]));
}
