/**
 * The last good configuration on its way from a snapshot to the worker.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { ServiceRecord } from "../model/service.ts";
import type { Settings } from "../model/settings.ts";
import { concatBodies } from "./changes.ts";
import type { Seed } from "./messages.ts";

/** A seed of a snapshot's services (each body the JSON of a ServiceRecord) and settings. Copies the bodies. */
export function makeSeed(services: Iterable<Resource>, settings: Settings): Seed {
  const { bytes, lengths } = concatBodies([...services]);
  return { settings, records: bytes, lengths };
}

/** The services of a seed. */
export function recordsOf({ records, lengths }: Seed): ServiceRecord[] {
  const decoder = new TextDecoder();
  let offset = 0;
  return lengths.map((length) => {
    const json = decoder.decode(records.subarray(offset, offset += length));
    return JSON.parse(json) as ServiceRecord; // our own store's, which checks what it reads
  });
}
