/**
 * `include` as written → files on the one hand, servers that are pulled from on the other, and what is
 * wrong with the latter.
 *
 * @module
 */
import type { PullSettings } from "../model/settings.ts";
import type { Environment } from "./expand.ts";
import { expandAddress } from "./expand_address.ts";
import { type Problem, problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { checkAddress } from "./settings_checks.ts";
import { checkDial, normaliseDial } from "./settings_dial.ts";

/** An item of `include` as written. */
export type IncludeInput = NonNullable<SettingsInput["include"]>[number];

type Server = Exclude<IncludeInput, string>;

const SCHEME = "xds://";

/** The items that name files, folders and patterns, each with its index among all. */
export function includedFiles(
  items: readonly IncludeInput[],
): readonly { readonly pattern: string; readonly index: number }[] {
  return items.flatMap((item, index) =>
    typeof item === "string" && !item.startsWith(SCHEME) ? [{ pattern: item, index }] : []
  );
}

/** The items that name servers. */
export function includedServers(items: readonly IncludeInput[]): readonly PullSettings[] {
  return items.flatMap((item) => {
    const server = serverOf(item);
    return server === undefined ? [] : [normalisePull(server)];
  });
}

function serverOf(item: IncludeInput): Server | undefined {
  if (typeof item !== "string") return item;
  return item.startsWith(SCHEME) ? { xds: item.slice(SCHEME.length) } : undefined;
}

function normalisePull(input: Server): PullSettings {
  return {
    url: SCHEME + input.xds,
    ...normaliseDial(input.xds, input),
    namespaces: input.namespaces ?? [],
  };
}

/** What is wrong with `include`, but for what its files hold and whether they are there. */
export function checkInclude(items: readonly IncludeInput[], environment: Environment): Problem[] {
  const problems: Problem[] = [];
  const places = new Map<string, number>();
  items.forEach((item, index) => {
    const path = ["include", index];
    const server = serverOf(item);
    if (server === undefined) {
      problems.push(...checkScheme(item as string, path));
      return;
    }
    const at = typeof item === "string" ? path : [...path, "xds"];
    problems.push(...checkAddress(server.xds, at, environment, { anyPort: false }));
    const dialled = { name: SCHEME + server.xds, address: server.xds };
    problems.push(...checkDial(server, dialled, path, environment));
    const expanded = expandAddress(server.xds, environment);
    const place = expanded.ok ? expanded.text : server.xds;
    const first = places.get(place);
    if (first !== undefined) {
      const message = `the items ${first + 1} and ${index + 1} of \`include\` are the same server`;
      problems.push(problem("config/duplicate", at, message, "keep one of them"));
    }
    places.set(place, first ?? index);
  });
  return problems;
}

function checkScheme(pattern: string, path: readonly (string | number)[]): Problem[] {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(pattern)?.[1];
  if (scheme === undefined) return [];
  const message = `${scheme}:// is nothing that can be included`;
  const hint = "write xds://host:port for an MCP-over-xDS server; all else is files";
  return [problem("config/value", path, message, hint)];
}
