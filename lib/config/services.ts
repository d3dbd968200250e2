/**
 * The list of services of one file → services, checked, with defaults, converted and encoded. What did
 * not change since the last time is taken over as it is.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { Service, ServiceRecord } from "../model/service.ts";
import type { DefaultSettings } from "../model/settings.ts";
import { contentHash } from "../wire/hash.ts";
import { check } from "./check.ts";
import type { Converter, OwnResource } from "./converter.ts";
import { normaliseService } from "./normalise.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import { serviceSchema } from "./schema_service.ts";

/** A service without errors, ready to be published. */
export interface LoadedService {
  /** `namespace/name`. */
  readonly name: string;
  /** Name of its file. */
  readonly file: string;
  readonly service: Service;
  /** The ServiceRecord as a resource: its JSON. */
  readonly record: Resource;
  /** What it becomes: a ServiceEntry, and what directs its traffic. */
  readonly resources: readonly OwnResource[];
  /** Warnings; paths start at the service. */
  readonly warnings: readonly (Problem | Finding)[];
}

/** What is wrong with an item of the list. */
export interface ServiceProblem {
  readonly problem: Problem | Finding;
  /** Path of the item. */
  readonly prefix: Path;
  readonly subject?: string;
}

/** What services depend on besides themselves. */
export interface ServicesContext {
  /** Name of the file, as in {@link ServiceRecord}. */
  readonly file: string;
  readonly defaults: DefaultSettings;
  readonly converter: Converter;
  /** The services of this file as last read, with the same defaults, by their source. */
  readonly known: ReadonlyMap<string, LoadedService>;
}

/** The services of a file, in its order; none where any has an error. */
export interface ReadServices {
  readonly services?: readonly LoadedService[];
  readonly problems: readonly ServiceProblem[];
  /** Every service that is right, by its source. */
  readonly known: ReadonlyMap<string, LoadedService>;
}

/** Reads a list of services. */
export function readServices(list: readonly unknown[], context: ServicesContext): ReadServices {
  const services: LoadedService[] = [];
  const problems: ServiceProblem[] = [];
  const known = new Map<string, LoadedService>();
  let refused = 0;
  for (const [index, raw] of list.entries()) {
    if (refused >= MAX_REFUSED) {
      problems.push({ problem: moreNotRead(list.length - index), prefix: ["services", index] });
      break;
    }
    const prefix = ["services", index];
    const source = JSON.stringify(raw);
    const read = context.known.get(source) ?? readService(raw, context);
    if ("problems" in read) {
      refused++;
      for (const found of read.problems) problems.push({ ...read.about, problem: found, prefix });
      continue;
    }
    known.set(source, read);
    services.push(read);
    for (const found of read.warnings) {
      problems.push({ problem: found, prefix, subject: read.name });
    }
  }
  return { ...(services.length === list.length ? { services } : {}), problems, known };
}

/** Services of one file that are refused before the rest is left unread: nothing of the file counts any more. */
const MAX_REFUSED = 1000;

function moreNotRead(count: number): Problem {
  const services = `${count} more service${count === 1 ? "" : "s"}`;
  return problem(
    "config/too-many-errors",
    [],
    `after ${MAX_REFUSED} with errors ${services} were not read`,
  );
}

interface Refused {
  readonly problems: readonly (Problem | Finding)[];
  readonly about: { readonly subject?: string };
}

function readService(raw: unknown, context: ServicesContext): LoadedService | Refused {
  const checked = check(serviceSchema, raw);
  if (!checked.ok) return { problems: checked.problems, about: {} };
  const { service, problems } = normaliseService(checked.value, context.defaults);
  return loadService(service, context, problems);
}

/** Converts and encodes a service that has its defaults. */
export function loadService(
  service: Service,
  context: { readonly file: string; readonly converter: Converter },
  problems: readonly Problem[] = [],
): LoadedService | Refused {
  const name = `${service.namespace}/${service.name}`;
  const { resources, findings } = context.converter.convertService(service);
  const all = [...problems, ...findings];
  if (resources.length === 0 || all.some(({ severity }) => severity === "error")) {
    return { problems: all, about: { subject: name } };
  }
  const record: ServiceRecord = { file: context.file, service };
  const json = JSON.stringify(record);
  return {
    name,
    file: context.file,
    service,
    record: { name, version: contentHash([json]), bytes: encoder.encode(json) },
    resources,
    warnings: all,
  };
}

const encoder = new TextEncoder();
