/**
 * The three messages in which resources of other sources come, read into one form.
 *
 * @module
 */
import { quote } from "../convert/rules/names.ts";
import {
  type Kind,
  kindByCollection,
  kindByTypeUrl,
  MCP_RESOURCE_TYPE_URL,
} from "../model/kind.ts";
import {
  type Any,
  deltaDiscoveryResponseCodec,
  discoveryResponseCodec,
  type McpResource,
  mcpResourceCodec,
  resourcesCodec,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import type { JudgeOptions, PushHead } from "./received.ts";

/** A resource of a push, or why there is none to be read. */
export interface PushItem {
  /** What the push calls it, be it wrong: for a person. */
  readonly label: string;
  readonly resource?: McpResource;
  /** Name that the message around the resource gives it; delta only. */
  readonly outerName?: string;
  /** Version that the source gave it. */
  readonly told: string;
  /** Why there is no resource. */
  readonly problem?: string;
}

/** A push, read. */
export interface Push {
  readonly head: PushHead;
  /** Of what its resources are; undefined: of nothing that is known here. */
  readonly kind: Kind | undefined;
  readonly count: number;
  /** Read one at a time: thousands at once would be a second copy of the push. */
  readonly items: Iterable<PushItem>;
  /** Empty where the push is full: such a push says what there is, not what is gone. */
  readonly removed: readonly string[];
}

/**
 * Bytes for each text, message and map entry that a push may hold. A resource takes eight of them, and
 * its body's type alone has 40 bytes, so that 16 MiB of the smallest ones pass; 16 MiB of empty messages,
 * two bytes each, do not.
 */
const BYTES_A_FIELD = 8;

/** However short the push is. */
const LEAST_FIELDS = 10_000;

/** Reads a push. Throws `WireError` where the bytes are not the protocol's message. */
export function readPush(bytes: Uint8Array, protocol: JudgeOptions["protocol"]): Push {
  const fields = Math.max(LEAST_FIELDS, Math.ceil(bytes.length / BYTES_A_FIELD));
  if (protocol === "mcp") return readMcp(bytes, fields);
  return protocol === "sotw" ? readSotw(bytes, fields) : readDelta(bytes, fields);
}

function readMcp(bytes: Uint8Array, fields: number): Push {
  const message = resourcesCodec.decode(bytes, { fields });
  const { collection: type, nonce, incremental, systemVersionInfo: version } = message;
  return {
    head: { type, nonce, version, incremental },
    kind: kindByCollection(type),
    count: message.resources.length,
    items: lazily(message.resources, ofResource),
    removed: incremental ? message.removedResources : [],
  };
}

function readSotw(bytes: Uint8Array, fields: number): Push {
  const message = discoveryResponseCodec.decode(bytes, { fields });
  const { typeUrl: type, nonce, versionInfo: version } = message;
  return {
    head: { type, nonce, version, incremental: false },
    kind: kindByTypeUrl(type),
    count: message.resources.length,
    items: lazily(message.resources, (any, index) => ofAny(any, index, fields)),
    removed: [],
  };
}

function readDelta(bytes: Uint8Array, fields: number): Push {
  const message = deltaDiscoveryResponseCodec.decode(bytes, { fields });
  const { typeUrl: type, nonce, systemVersionInfo: version } = message;
  return {
    head: { type, nonce, version, incremental: true },
    kind: kindByTypeUrl(type),
    count: message.resources.length,
    items: lazily(message.resources, ({ resource, version, name }, index) => ({
      ...ofAny(resource, index, fields),
      ...(name === "" ? {} : { label: name }),
      told: version,
      outerName: name,
    })),
    removed: message.removedResources,
  };
}

function* lazily<T>(
  list: readonly T[],
  read: (item: T, index: number) => PushItem,
): Generator<PushItem, void, void> {
  for (const [index, item] of list.entries()) yield read(item, index);
}

function ofResource(resource: McpResource, index: number): PushItem {
  const name = resource.metadata?.name ?? "";
  return {
    label: name === "" ? `resources[${index}]` : name,
    resource,
    told: resource.metadata?.version ?? "",
  };
}

function ofAny(any: Any | undefined, index: number, fields: number): PushItem {
  const broken = (problem: string) => ({ label: `resources[${index}]`, told: "", problem });
  if (any === undefined) return broken("it holds no resource");
  if (any.typeUrl !== MCP_RESOURCE_TYPE_URL) {
    return broken(`it is ${quote(any.typeUrl)}, not ${MCP_RESOURCE_TYPE_URL}`);
  }
  try {
    return ofResource(mcpResourceCodec.decode(any.value, { fields }), index);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return broken(error.message);
  }
}
