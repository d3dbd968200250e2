/**
 * What the probe asks for: read out of its options.
 *
 * @module
 */
import { kindByName, KINDS } from "../model/kind.ts";
import { type XdsType, xdsTypeByUrl } from "../model/xds_type.ts";
import type { ViewKind } from "../view/client_views.ts";
import { optionName } from "./option_name.ts";
import type { ProbeFlags, ProbeProtocol } from "./probe_flags.ts";
import type { Asked } from "./probe_ledger.ts";
import { ProbeWalk, type WalkOptions } from "./probe_walk.ts";
import { xdsTypeNamed } from "./xds_type_named.ts";

/** What is asked for, and as whom. */
export interface Question {
  readonly protocol: ProbeProtocol;
  /** Whom the probe is like; absent: nobody but itself. */
  readonly as?: ViewKind;
  /** In the order in which they are asked for; at least one. */
  readonly types: readonly Asked[];
  /** How further names are found; absent: only the types are asked for. */
  readonly walk?: WalkOptions;
  /** Type URLs that are printed; absent: all. */
  readonly shown?: ReadonlySet<string>;
  /** Whether types or a kind of client were named; else all of Istio's kinds are asked for. */
  readonly named: boolean;
}

/** Options that mean nothing to MCP. */
const ONLY_ADS = ["as", "resource", "userAgent", "metadata"] as const;

/** What is asked for, or what is wrong with how it was written. */
export function readQuestion(flags: ProbeFlags): Question | string {
  const { as, collection = [], type = [], resource = [] } = flags;
  const names = [...new Set([...collection, ...type])];
  const wanted = names.flatMap((name) => xdsTypeNamed(name) ?? []);
  const protocol = flags.protocol ?? (as === undefined && wanted.length === 0 ? "mcp" : "ads");
  if (protocol === "mcp") {
    const foreign = ONLY_ADS.find((flag) => flags[flag] !== undefined);
    if (foreign !== undefined) {
      return `--${optionName(foreign)} is for --protocol ads and ads-delta, not mcp`;
    }
    const xds = names.find((name) => xdsTypeNamed(name) !== undefined);
    if (xds !== undefined) return `${xds} is no collection of MCP; --protocol ads asks for it`;
  }
  if (names.length === 0) return as === undefined ? all(protocol, resource) : walk(flags, as);
  const question = { protocol, ...asked(as, wanted), named: true };
  const urls = [...new Set(names.map((name) => typeOf(name, protocol)))];
  if (resource.length > 0) {
    if (urls.length > 1) return "--resource goes with one --type: the names are that type's";
    return { ...question, types: [{ typeUrl: urls[0]!, names: resource }] };
  }
  if (as === "grpc" && wanted.length > 0) {
    return "a gRPC program asks by name: --resource NAME says for what";
  }
  // EDS and RDS are asked for by names that others say: those have to be asked first.
  if (wanted.every(({ wildcard }) => wildcard)) {
    return { ...question, types: urls.map((typeUrl) => ({ typeUrl })) };
  }
  if (wanted.length < urls.length) {
    return "EDS and RDS are asked for by name: --resource NAME says for what";
  }
  return found(protocol, { as: as ?? "envoy", targets: [] }, urls);
}

/** Every kind of Istio's. */
function all(protocol: ProbeProtocol, resource: readonly string[]): Question | string {
  if (resource.length > 0) return "--resource goes with --type, or with --as grpc";
  return {
    protocol,
    types: KINDS.map(({ kind }) => ({ typeUrl: typeOf(kind, protocol) })),
    named: false,
  };
}

/** Whatever such a client asks for. */
function walk({ protocol = "ads", resource = [] }: ProbeFlags, as: ViewKind): Question | string {
  if (as === "grpc" && resource.length === 0) {
    return "--as grpc needs --resource TARGET: what the program would call, the text after xds:///";
  }
  if (as !== "grpc" && resource.length > 0) {
    return `--resource goes with --type; --as ${as} asks for all there is`;
  }
  return found(protocol, { as, targets: [...new Set(resource)] });
}

function found(
  protocol: ProbeProtocol,
  options: WalkOptions,
  shown?: readonly string[],
): Question | string {
  const types = new ProbeWalk(options).types;
  const never = shown?.find((url) => !types.some(({ typeUrl }) => typeUrl === url));
  if (never !== undefined) {
    const { shortName } = xdsTypeByUrl(never)!;
    return `--as ${options.as} never asks for ${shortName} together with what else was named`;
  }
  const only = shown === undefined ? {} : { shown: new Set(shown) };
  return { protocol, as: options.as, types, walk: options, ...only, named: true };
}

/** Who asks for xDS types and does not say as whom is like an Envoy, to which they belong. */
function asked(as: ViewKind | undefined, xds: readonly XdsType[]): { readonly as?: ViewKind } {
  const kind = as ?? (xds.length > 0 ? "envoy" : undefined);
  return kind === undefined ? {} : { as: kind };
}

/** A kind's name stands for its collection or newest type URL; all else is asked for as it is. */
function typeOf(name: string, protocol: ProbeProtocol): string {
  const kind = kindByName(name);
  if (kind === undefined) return xdsTypeNamed(name)?.typeUrl ?? name;
  return protocol === "mcp" ? kind.collection : `${kind.group}/${kind.versions[0]}/${kind.kind}`;
}
