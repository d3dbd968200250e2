/**
 * Settings written as YAML, as tests want them.
 *
 * @module
 */
import { assert } from "@std/assert";
import { check } from "../../../lib/config/check.ts";
import { parse } from "../../../lib/config/parse.ts";
import { configFileSchema, type SettingsInput } from "../../../lib/config/schema.ts";
import { checkSettings, normaliseSettings } from "../../../lib/config/settings.ts";
import type { Settings } from "../../../lib/model/settings.ts";

/** Settings of the right form. */
export function input(yaml: string): SettingsInput {
  const parsed = parse(yaml);
  assert(parsed.ok, JSON.stringify(parsed));
  const checked = check(configFileSchema, parsed.document);
  assert(checked.ok, JSON.stringify(checked));
  return checked.value;
}

/** Settings with their defaults filled in. */
export function normalise(yaml: string): Settings {
  return normaliseSettings(input(yaml), { hostName: "host" });
}

/** What is wrong with settings beyond their form, a line each: `severity path: message`. */
export function wrong(yaml: string, env: Readonly<Record<string, string>> = {}): string[] {
  return checkSettings(input(yaml), (name) => env[name])
    .map(({ severity, path, message }) => `${severity} ${path.join(".")}: ${message}`);
}

/** What is hinted at, a line each; nothing for problems without a hint. */
export function hints(yaml: string, env: Readonly<Record<string, string>> = {}): string[] {
  return checkSettings(input(yaml), (name) => env[name]).flatMap(({ hint }) => hint ?? []);
}

/** What is wrong with the form, a line each: `path: message; hint`. */
export function malformed(yaml: string): string[] {
  const parsed = parse(yaml);
  assert(parsed.ok, JSON.stringify(parsed));
  const checked = check(configFileSchema, parsed.document);
  if (checked.ok) return [];
  return checked.problems.map(({ path, message, hint }) =>
    `${path.join(".")}: ${message}${hint === undefined ? "" : `; ${hint}`}`
  );
}
