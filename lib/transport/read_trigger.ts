/**
 * Telling a source's trigger from its pushes, without decoding those.
 *
 * @module
 */
import { isTrigger } from "../model/kind.ts";
import type { PushHead } from "../receive/received.ts";
import { resourcesCodec } from "../wire/messages.ts";

/** More than any trigger. Bytes. */
const LARGEST_TRIGGER = 256;

/** The head of a message that is a trigger; undefined for any other, and for what is no message. */
export function readTrigger(bytes: Uint8Array): PushHead | undefined {
  if (bytes.length > LARGEST_TRIGGER) return undefined;
  try {
    const push = resourcesCodec.decode(bytes);
    if (!isTrigger(push.collection)) return undefined;
    const { collection: type, nonce, systemVersionInfo: version, incremental } = push;
    return { type, nonce, version, incremental };
  } catch {
    return undefined; // the judge says what is wrong with it
  }
}
