/**
 * What a client holds, as `envoy.service.status.v3` tells it: an entry for each resource where the
 * client names what it wants, else one for each type.
 *
 * @module
 */
import { xdsTypeByUrl } from "../model/xds_type.ts";
import { isUnknown } from "../protocol/held.ts";
import type { SubscriptionStatus } from "../protocol/stream.ts";
import type { Any, GenericXdsConfig, Partially, Timestamp } from "../wire/messages.ts";
import type { SentContent, WatchedType } from "./client_watch.ts";

/** An entry. */
export type ClientEntry = Partially<GenericXdsConfig>;

/** How much is told: resources with their contents, resources, or types alone. */
export type Detail = "contents" | "names" | "types";

/** What is known of one type at one client. */
export interface ClientType {
  readonly status: SubscriptionStatus;
  readonly watched: WatchedType;
  /** What it asks for by name; absent: everything. */
  readonly names?: ReadonlySet<string>;
}

/** Names of one type beyond which only the type is told. */
const MOST_NAMES = 1000;

/** Entries of one type at one client. */
export function entriesOf(type: ClientType, detail: Detail): Iterable<ClientEntry> {
  const { names } = type;
  if (detail === "types" || names === undefined || names.size > MOST_NAMES) {
    return [entryOfType(type)];
  }
  return entriesOfNames(type, names, detail === "contents");
}

/** About how long an entry is, never much less. Bytes. */
export function lengthOf(
  { typeUrl, name, versionInfo, xdsConfig, errorState }: ClientEntry,
): number {
  const texts = [typeUrl, name, versionInfo, xdsConfig?.typeUrl, errorState?.details];
  const contents = xdsConfig?.value?.length ?? 0;
  return texts.reduce((sum, text) => sum + sizeOf(text ?? ""), contents + FRAME);
}

/** What an entry has besides texts and contents: tags, lengths, states, times. Bytes. */
const FRAME = 48;

function sizeOf(text: string): number {
  return ASCII.test(text) ? text.length : 3 * text.length;
}

// deno-lint-ignore no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

function entryOfType({ status, watched }: ClientType): ClientEntry {
  const { accepted, pending, refused } = watched;
  const standing = refusedNow(status, watched)
    ? { clientStatus: "NACKED", configStatus: "ERROR", errorState: errorOf(refused!) } as const
    : {
      clientStatus: accepted === undefined ? "REQUESTED" : "ACKED",
      configStatus: pending !== undefined
        ? "STALE"
        : accepted === undefined
        ? "NOT_SENT"
        : "SYNCED",
    } as const;
  return { typeUrl: status.type, ...acceptedAs(accepted, accepted?.version), ...standing };
}

function* entriesOfNames(
  type: ClientType,
  names: ReadonlySet<string>,
  contents: boolean,
): Iterable<ClientEntry> {
  for (const name of [...names].sort()) yield entryOfName(type, name, contents);
}

function entryOfName(type: ClientType, name: string, contents: boolean): ClientEntry {
  const { status, watched } = type;
  const { accepted, refused } = watched;
  const held = accepted?.collection.get(name);
  const isRefused = refusedNow(status, watched) && refused!.names.includes(name);
  const known = contents && held !== undefined && !isUnknown(held);
  return {
    typeUrl: status.type,
    name,
    ...(held === undefined ? {} : acceptedAs(accepted, held.version)),
    ...(known ? { xdsConfig: any(accepted!.collection.anyType, held.bytes) } : {}),
    ...(isRefused
      ? { clientStatus: "NACKED", configStatus: "ERROR", errorState: errorOf(refused!) } as const
      : standingOf(type, name, held?.version)),
  };
}

function standingOf(
  { status, watched: { accepted, pending } }: ClientType,
  name: string,
  held: string | undefined,
): Pick<ClientEntry, "clientStatus" | "configStatus"> {
  const sent = pending?.collection.get(name)?.version;
  const underWay = pending !== undefined && sent !== held;
  if (held !== undefined) {
    return { clientStatus: "ACKED", configStatus: underWay ? "STALE" : "SYNCED" };
  }
  if (underWay) return { clientStatus: "REQUESTED", configStatus: "STALE" };
  // An answer without a listener or a cluster that was asked for says that there is none.
  const gone = accepted !== undefined && xdsTypeByUrl(status.type)?.wildcard === true;
  return gone
    ? { clientStatus: "DOES_NOT_EXIST", configStatus: "SYNCED" }
    : { clientStatus: "REQUESTED", configStatus: "NOT_SENT" };
}

/** Whether what was refused is still held back, or was the last that the client answered. */
function refusedNow(status: SubscriptionStatus, { refused, answered }: WatchedType): boolean {
  return refused !== undefined && (status.parked > 0 || answered === "nack");
}

function acceptedAs(accepted: SentContent | undefined, version: string | undefined): ClientEntry {
  if (accepted === undefined) return {};
  return { versionInfo: version, lastUpdated: timestamp(accepted.at) };
}

function errorOf(
  { version, message, at }: NonNullable<WatchedType["refused"]>,
): ClientEntry["errorState"] {
  return { details: message, versionInfo: version, lastUpdateAttempt: timestamp(at) };
}

function any(typeUrl: string, value: Uint8Array): Any {
  return { typeUrl, value };
}

function timestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1_000_000) };
}
