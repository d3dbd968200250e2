/**
 * Settings as written → settings with every default filled in.
 *
 * @module
 */
import type { DefaultSettings, LimitSettings, PushSettings, Settings } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Environment } from "./expand.ts";
import { type Problem, problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { addressOf, addressPath, checkAddress, isOffLoopback, warning } from "./settings_checks.ts";
import { checkEnvoy, normaliseEnvoy } from "./settings_envoy.ts";
import { checkSinks, normaliseSink } from "./settings_dial.ts";
import { checkInclude, includedFiles, includedServers } from "./settings_include.ts";
import { checkListen, normaliseListener } from "./settings_listen.ts";
import { checkPeers, normalisePeer } from "./settings_peers.ts";
import { checkReceive, normaliseReceive } from "./settings_receive.ts";
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
  const admin = input.admin === undefined ? keepAdmin(fallback) : adminOf(input.admin);
  const receive = input.receive === undefined ? fallback?.receive : normaliseReceive(input.receive);
  return {
    defaults: normaliseDefaults(input.defaults, fallback?.defaults),
    include: input.include === undefined
      ? fallback?.include ?? []
      : includedFiles(input.include).map(({ pattern }) => pattern),
    instance: input.instance ?? fallback?.instance ?? context.hostName,
    listen: input.listen?.map(normaliseListener) ?? fallback?.listen ??
      DEFAULTS.listen.map(normaliseListener),
    peers: input.peers?.map(normalisePeer) ?? fallback?.peers ?? [],
    sinks: input.sinks?.map(normaliseSink) ?? fallback?.sinks ?? [],
    pull: input.include === undefined ? fallback?.pull ?? [] : includedServers(input.include),
    ...(receive === undefined ? {} : { receive }),
    push: normalisePush(input.push, fallback?.push),
    envoy: normaliseEnvoy(input.envoy, fallback?.envoy),
    watch: input.watch === undefined && fallback !== undefined
      ? fallback.watch
      : { poll: parseDuration(input.watch?.poll ?? DEFAULTS.poll)! },
    limits: normaliseLimits(input.limits, fallback?.limits),
    ...(admin === undefined ? {} : { admin }),
    log: input.log === undefined && fallback !== undefined ? fallback.log : {
      level: input.log?.level ?? DEFAULTS.logLevel,
      format: input.log?.format ?? DEFAULTS.logFormat,
    },
    unknownCollection: input.mcp?.unknownCollection ?? fallback?.unknownCollection ??
      DEFAULTS.unknownCollection,
  };
}

function normalisePush(input: SettingsInput["push"], fallback?: PushSettings): PushSettings {
  if (input === undefined && fallback !== undefined) return fallback;
  return {
    quiet: parseDuration(input?.quiet ?? DEFAULTS.quiet)!,
    max: parseDuration(input?.max ?? DEFAULTS.max)!,
    guard: input?.guard ?? DEFAULTS.guard,
  };
}

function normaliseLimits(input: SettingsInput["limits"], fallback?: LimitSettings): LimitSettings {
  if (input === undefined && fallback !== undefined) return fallback;
  return {
    file: parseSize(input?.file ?? DEFAULTS.file)!,
    message: parseSize(input?.message ?? DEFAULTS.message)!,
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
  return [
    ...checkInclude(input.include ?? [], environment),
    ...checkListen(input.listen ?? [], environment),
    ...checkAdmin(input.admin, environment),
    ...checkPush(input.push),
    ...checkEnvoy(input.envoy),
    ...checkSinks(input.sinks ?? [], environment),
    ...(input.receive === undefined ? [] : checkReceive(input.receive, environment)),
    ...checkPeers(input.peers ?? []),
  ];
}

function checkAdmin(admin: SettingsInput["admin"], environment: Environment): Problem[] {
  if (admin === undefined || admin === false) return [];
  const [address, path] = [addressOf(admin), addressPath(admin, ["admin"])];
  const problems = checkAddress(address, path, environment, { anyPort: true });
  if (!isOffLoopback(address, environment)) return problems;
  const message =
    "`admin` can be reached from other machines, in plaintext: whoever is on the way " +
    "can read the status, and take the token that confirms what is held";
  const hint = "keep it on loopback and reach it through a tunnel, or give the token on this " +
    "machine only";
  return [...problems, warning("config/security", path, message, hint)];
}

function checkPush(push: SettingsInput["push"]): Problem[] {
  const [quiet, max] = [push?.quiet ?? "0", push?.max ?? DEFAULTS.max];
  if (parseDuration(quiet)! <= parseDuration(max)!) return [];
  return [problem("config/value", ["push", "quiet"], "`quiet` must not be longer than `max`")];
}

function adminOf(input: NonNullable<SettingsInput["admin"]>): string | undefined {
  return input === false ? undefined : addressOf(input);
}

function keepAdmin(fallback: Settings | undefined): string | undefined {
  return fallback === undefined ? DEFAULTS.admin : fallback.admin;
}
