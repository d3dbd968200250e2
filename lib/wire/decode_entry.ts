/**
 * ServiceEntries as they are served, read from their bytes.
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
} from "./messages.ts";
import { WireError } from "./wire_error.ts";

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
