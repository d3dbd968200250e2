/**
 * Resources as bytes. Whoever encodes one, out of a service or out of what another source sent, does
 * it here, so that equal content has equal versions and equal bytes.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { contentHash } from "../wire/hash.ts";
import { type Any, mcpResourceCodec, type StringMap, type Timestamp } from "../wire/messages.ts";
import type { Metadata } from "./rules/rule.ts";

/** 2020-01-01T00:00:00Z: a time that never moves, for resources that have none of their own. */
export const CREATE_TIME: Timestamp = { seconds: 1577836800, nanos: 0 };

/**
 * A resource of this body. Its version says content only: body, labels and annotations; the time is
 * no part of it. Throws `WireError` for what the wire cannot hold.
 */
export function encodeResource(
  metadata: Metadata,
  body: Any,
  createTime: Timestamp = CREATE_TIME,
): Resource {
  const name = `${metadata.namespace}/${metadata.name}`;
  const { labels, annotations } = metadata;
  const version = contentHash([body.value, mapsText(labels, annotations)]);
  const bytes = mcpResourceCodec.encode({
    metadata: { name, createTime, version, labels, annotations },
    body,
  });
  return { name, version, bytes };
}

/** Pairs in the order of their keys: unlike an object, an array keeps that order for numeric keys as well. */
function mapsText(...maps: readonly StringMap[]): string {
  return JSON.stringify(
    maps.map((map) => Object.keys(map).sort().map((key) => [key, map[key]])),
  );
}
