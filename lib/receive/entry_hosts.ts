/**
 * The hosts of a ServiceEntry as it is served: read from its bytes, once for each resource.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import {
  mcpResourceCodec,
  type ServiceEntry,
  serviceEntryCodec,
  type StringMap,
  type Timestamp,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";

/** Hosts, made to be compared. */
export interface EntryHosts {
  /** In small letters, sorted, each once. A wildcard is a text like any other. */
  readonly hosts: readonly string[];
  /** Equal where the hosts are. */
  readonly key: string;
}

/** A resource that is a ServiceEntry, decoded. */
export interface DecodedEntry {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly createTime?: Timestamp;
  readonly entry: ServiceEntry;
}

/** The ServiceEntry in a resource; undefined where the bytes are none. */
export function decodeEntry({ bytes }: Resource): DecodedEntry | undefined {
  try {
    const { metadata, body } = mcpResourceCodec.decode(bytes);
    if (metadata === undefined || body === undefined) return undefined;
    const { labels, annotations, createTime } = metadata;
    const decoded = { labels, annotations, entry: serviceEntryCodec.decode(body.value) };
    return createTime === undefined ? decoded : { ...decoded, createTime };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return undefined;
  }
}

const NO_HOSTS: EntryHosts = { hosts: [], key: "" };

/** Weak: what is known of a resource goes with it. */
const known = new WeakMap<Resource, EntryHosts>();

/** The hosts of a resource that is a ServiceEntry; none where its bytes cannot be decoded. */
export function hostsOf(resource: Resource): EntryHosts {
  let found = known.get(resource);
  if (found === undefined) {
    found = toHosts(decodeEntry(resource)?.entry.hosts ?? []);
    known.set(resource, found);
  }
  return found;
}

function toHosts(written: readonly string[]): EntryHosts {
  if (written.length === 0) return NO_HOSTS;
  const hosts = [...new Set(written.map((host) => host.toLowerCase()))].sort();
  return { hosts, key: JSON.stringify(hosts) };
}
