/**
 * A configuration read once, for commands that serve nothing.
 *
 * @module
 */
import { resolve } from "node:path";
import { ConfigReader, type WrittenSettings } from "../config/load.ts";
import type { LoadResult } from "../config/messages.ts";
import type { LoadedService } from "../config/services.ts";
import { type Finding, formatFinding } from "../model/finding.ts";
import { serviceEntryConverter } from "./converter.ts";

/** A configuration as it is now. */
export interface ReadConfig {
  readonly result: LoadResult;
  /** With line and column, in the order of file and line. */
  readonly findings: readonly Finding[];
  /** The services in effect, and what they become. */
  readonly services: readonly LoadedService[];
  /** The settings as they are written. */
  readonly written: readonly WrittenSettings[];
  /** These findings beside {@link ReadConfig.findings}, likewise. */
  readonly and: (more: readonly Finding[]) => readonly Finding[];
}

/** Reads, checks and converts a configuration. */
export function readConfig(config: string): ReadConfig {
  const reader = new ConfigReader(resolve(config), { converter: serviceEntryConverter });
  const result = reader.load({ full: true });
  const findings = reader.locate().toSorted(byPlace);
  const and = (more: readonly Finding[]) => [...findings, ...reader.place(more)].toSorted(byPlace);
  const { services, written } = reader;
  return { result, findings, services, written, and };
}

/** Findings as lines, with paths as short as they can be from here. */
export function describeFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `${formatFinding(shorten(finding))}\n`).join("");
}

/** Servers to pull from that are named; of further ones only their number is said. */
const NAMED = 3;

/** A line about what is not in the files, where other sources are to give it; else an empty text. */
export function describeElsewhere({ result: { settings } }: ReadConfig): string {
  if (settings === undefined) return "";
  const { receive, pull } = settings;
  const urls = pull.slice(0, NAMED).map(({ url }) => url);
  const more = pull.length - urls.length;
  const places = [
    ...(receive === undefined ? [] : [`receive ${receive.address}`]),
    ...urls,
    ...(more > 0 ? [`${more} more`] : []),
  ];
  if (places.length === 0) return "";
  const others = places.join(", ");
  return `this is what our own files give; what other sources do (${others}) is checked and served as it comes\n`;
}

/** Writes all of `text`; a reader that went away (`| head`) is no failure. */
export async function print(text: string, to: typeof Deno.stdout): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

function shorten(finding: Finding): Finding {
  const here = `${Deno.cwd()}/`;
  const { position } = finding;
  if (!position?.file.startsWith(here)) return finding;
  return { ...finding, position: { ...position, file: position.file.slice(here.length) } };
}

function byPlace({ position: a }: Finding, { position: b }: Finding): number {
  const files = (a?.file ?? "") < (b?.file ?? "") ? -1 : (a?.file ?? "") > (b?.file ?? "") ? 1 : 0;
  return files || (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}
