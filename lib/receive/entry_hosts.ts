/**
 * The hosts of a ServiceEntry as it is served: read from its bytes, once for each resource.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { decodeEntry } from "../wire/decode_entry.ts";

/** Hosts, made to be compared. */
export interface EntryHosts {
  /** In small letters, sorted, each once. A wildcard is a text like any other. */
  readonly hosts: readonly string[];
  /** Equal where the hosts are. */
  readonly key: string;
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
