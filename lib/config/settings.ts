/**
 * Settings as written → settings with every default filled in.
 *
 * @module
 */
import type { DefaultSettings, ListenSettings, Settings, SinkSettings } from "../model/settings.ts";
import { parseHostPort } from "./address.ts";
import { DEFAULTS } from "./defaults.ts";
import { type Environment, expand } from "./expand.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { parseDuration, parseSize } from "./units.ts";

/** What stands in for settings that are not written. */
export interface SettingsContext {
  /** `instance` where none is written. */
  readonly hostName: string;
  /** Settings of the last good configuration, in place of the defaults: for what could not be read this time. */
  readonly fallback?: Settings;
}

/** The settings of a configuration. The input has passed {@link checkSettings}. */
export function normaliseSettings(input: SettingsInput, context: SettingsContext): Settings {
  const { fallback } = context;
  const push = input.push ?? {};
  const limits = input.limits ?? {};
  const admin = input.admin === undefined ? keepAdmin(fallback) : adminOf(input.admin);
  return {
    defaults: normaliseDefaults(input.defaults, fallback?.defaults),
    include: input.include ?? fallback?.include ?? [],
    instance: input.instance ?? fallback?.instance ?? context.hostName,
    listen: (input.listen?.map(addressOf) ?? undefined)?.map(plainListener) ?? fallback?.listen ??
      DEFAULTS.listen.map(plainListener),
    peers: fallback?.peers ?? [],
    sinks: input.sinks?.map(normaliseSink) ?? fallback?.sinks ?? [],
    pull: fallback?.pull ?? [],
    push: input.push === undefined && fallback !== undefined ? fallback.push : {
      quiet: parseDuration(push.quiet ?? DEFAULTS.quiet)!,
      max: parseDuration(push.max ?? DEFAULTS.max)!,
      guard: push.guard ?? DEFAULTS.guard,
    },
    watch: input.watch === undefined && fallback !== undefined
      ? fallback.watch
      : { poll: parseDuration(input.watch?.poll ?? DEFAULTS.poll)! },
    limits: input.limits === undefined && fallback !== undefined ? fallback.limits : {
      file: parseSize(limits.file ?? DEFAULTS.file)!,
      message: parseSize(limits.message ?? DEFAULTS.message)!,
    },
    ...(admin === undefined ? {} : { admin }),
    log: input.log === undefined && fallback !== undefined ? fallback.log : {
      level: input.log?.level ?? DEFAULTS.logLevel,
      format: input.log?.format ?? DEFAULTS.logFormat,
    },
    unknownCollection: input.mcp?.unknownCollection ?? fallback?.unknownCollection ??
      DEFAULTS.unknownCollection,
  };
}

/** What services get that do not say it themselves. */
export function normaliseDefaults(
  input: SettingsInput["defaults"],
  fallback?: DefaultSettings,
): DefaultSettings {
  if (input === undefined && fallback !== undefined) return fallback;
  return {
    namespace: input?.namespace ?? DEFAULTS.namespace,
    domain: input?.domain ?? DEFAULTS.domain,
    exportTo: input?.exportTo ?? DEFAULTS.exportTo,
  };
}

/** What a schema cannot say: variables that are set, addresses that are addresses, names that are unique. */
export function checkSettings(input: SettingsInput, environment: Environment): readonly Problem[] {
  const problems: Problem[] = [];
  const addresses = new Set<string>();
  input.listen?.forEach((item, index) => {
    const path = ["listen", index, ...(typeof item === "string" ? [] : ["address"])];
    const address = addressOf(item);
    problems.push(...checkAddress(address, path, environment, { anyPort: true }));
    if (addresses.has(address) && !address.endsWith(":0")) {
      problems.push(problem("config/duplicate", path, `${address} is listened on twice`));
    }
    addresses.add(address);
  });
  if (input.admin !== undefined && input.admin !== false) {
    const path = ["admin", ...(typeof input.admin === "string" ? [] : ["address"])];
    problems.push(...checkAddress(addressOf(input.admin), path, environment, { anyPort: true }));
  }
  if (parseDuration(input.push?.quiet ?? "0")! > parseDuration(input.push?.max ?? DEFAULTS.max)!) {
    const path = ["push", "quiet"];
    problems.push(problem("config/value", path, "`quiet` must not be longer than `max`"));
  }
  return [...problems, ...checkSinks(input.sinks ?? [], environment)];
}

type SinkInput = NonNullable<SettingsInput["sinks"]>[number];

function checkSinks(sinks: readonly SinkInput[], environment: Environment): Problem[] {
  const problems: Problem[] = [];
  const names = new Map<string, number>();
  const addresses = new Map<string, number>();
  sinks.forEach((input, index) => {
    const sink = normaliseSink(input);
    const path = ["sinks", index];
    const addressPath = typeof input === "string" ? path : [...path, "address"];
    problems.push(...checkAddress(sink.address, addressPath, environment, { anyPort: false }));
    problems.push(...checkHeaders(sink.headers, [...path, "headers"], environment));
    const namesake = names.get(sink.name);
    const neighbour = addresses.get(sink.address);
    if (namesake !== undefined) {
      const message = `two sinks are named ${sink.name}, items ${namesake + 1} and ${index + 1}`;
      problems.push(problem("config/duplicate", path, message, "give one of them another `name`"));
    } else if (neighbour !== undefined) {
      const message = `the sinks ${neighbour + 1} and ${index + 1} have the same address`;
      problems.push({ ...problem("config/duplicate", path, message), severity: "warning" });
    }
    names.set(sink.name, index);
    addresses.set(sink.address, index);
  });
  return problems;
}

function checkHeaders(
  headers: Readonly<Record<string, string>>,
  path: Path,
  environment: Environment,
): Problem[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const at = [...path, name];
    if (name.startsWith("grpc-") || name.endsWith("-bin")) {
      return [problem("config/value", at, `the header ${name} cannot be set`, RESERVED_HEADERS)];
    }
    const expansion = expand(value, environment);
    if (!expansion.ok) {
      return [problem("config/environment", at, expansion.message, expansion.hint)];
    }
    if (/^[\x20-\x7e]*$/.test(expansion.text)) return [];
    // The value may be a secret: it is not repeated.
    return [problem("config/value", at, `the header ${name} holds more than printable ASCII`)];
  });
}

const RESERVED_HEADERS = "names that begin with grpc- or end in -bin are gRPC's own";

function checkAddress(
  address: string,
  path: Path,
  environment: Environment,
  { anyPort }: { readonly anyPort: boolean },
): Problem[] {
  const expansion = expand(address, environment);
  if (!expansion.ok) {
    return [problem("config/environment", path, expansion.message, expansion.hint)];
  }
  const parsed = parseHostPort(expansion.text);
  if (parsed === undefined) {
    const hint = "write host:port, as in 127.0.0.1:15010 or [::1]:15010";
    return [problem("config/value", path, `${address} is not an address`, hint)];
  }
  if (parsed.port === 0 && !anyPort) {
    return [problem("config/value", path, `${address} has no port that can be dialled`)];
  }
  return [];
}

function normaliseSink(input: SinkInput): SinkSettings {
  const { name, address, headers, heartbeat }: Exclude<SinkInput, string> =
    typeof input === "string" ? { address: input } : input;
  return {
    name: name ?? address,
    address,
    headers: headers ?? {},
    heartbeat: parseDuration(heartbeat ?? DEFAULTS.heartbeat)!,
    collections: [],
    wave: 1,
  };
}

function plainListener(address: string): ListenSettings {
  return { address, allow: [], insecure: false };
}

function addressOf(input: string | { readonly address: string }): string {
  return typeof input === "string" ? input : input.address;
}

function adminOf(input: NonNullable<SettingsInput["admin"]>): string | undefined {
  return input === false ? undefined : addressOf(input);
}

function keepAdmin(fallback: Settings | undefined): string | undefined {
  return fallback === undefined ? DEFAULTS.admin : fallback.admin;
}
