/**
 * What is kept of an xDS node for as long as its stream lives: who it is and what it says of itself,
 * but not at any length.
 *
 * @module
 */
import type { Locality, Node, StringMap, Struct, Value } from "../wire/messages.ts";

/** A part of a node. */
export interface BriefNode {
  readonly id: string;
  readonly cluster: string;
  readonly userAgentName: string;
  readonly userAgentVersion?: string;
  readonly locality?: Locality;
  readonly metadata?: Struct;
}

/** Values kept of the metadata, at all depths together. */
const MOST_VALUES = 64;

/** How deep the values kept may be. */
const DEEPEST = 8;

/** Longest part of a text that is kept. UTF-16 code units. */
const LONGEST = 256;

/** The part of a node that is kept; of its metadata the first 64 values, each text cut at 256 characters. */
export function briefNode(node: Node): BriefNode {
  const { id, cluster, userAgentName, userAgentVersion, locality, metadata } = node;
  return {
    id: briefText(id),
    cluster: briefText(cluster),
    userAgentName: briefText(userAgentName),
    ...(userAgentVersion === undefined ? {} : { userAgentVersion: briefText(userAgentVersion) }),
    ...(locality === undefined ? {} : { locality: briefLocality(locality) }),
    ...(metadata === undefined ? {} : { metadata: new Brief().struct(metadata, 0) }),
  };
}

/** A text of a peer, cut where it is very long. */
export function briefText(text: string): string {
  return text.slice(0, LONGEST).toWellFormed();
}

function briefLocality({ region, zone, subZone }: Locality): Locality {
  return { region: briefText(region), zone: briefText(zone), subZone: briefText(subZone) };
}

/** Counts what is kept of one node. */
class Brief {
  #left = MOST_VALUES;

  struct({ fields }: Struct, depth: number): Struct {
    const kept: Record<string, Value> = {};
    for (const key in fields) {
      if (this.#left === 0) break;
      const value = this.#value(fields[key]!, depth);
      if (value !== undefined) set(kept, briefText(key), value);
    }
    return { fields: kept };
  }

  #value(value: Value, depth: number): Value | undefined {
    if (depth === DEEPEST || this.#left === 0) return undefined;
    this.#left--;
    const { stringValue, structValue, listValue } = value;
    if (stringValue !== undefined) return { stringValue: briefText(stringValue) };
    if (structValue !== undefined) return { structValue: this.struct(structValue, depth + 1) };
    if (listValue === undefined) return value;
    const items = listValue.values.slice(0, this.#left);
    const values = items.map((item) => this.#value(item, depth + 1));
    return { listValue: { values: values.filter((item) => item !== undefined) } };
  }
}

/** Sets a key that may be called anything, `__proto__` too. */
function set(map: StringMap<Value>, key: string, value: Value): void {
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}
