/**
 * Responses that wait to be judged, bounded. Of full ones only the newest of a type: it makes those
 * before it pointless.
 *
 * @module
 */
import type { AdsVariant } from "../protocol/ads_client.ts";
import type { DiscoveryHead } from "../wire/discovery_head.ts";

/** A response, read as far as its head. */
export interface UnjudgedResponse {
  readonly head: DiscoveryHead;
  readonly bytes: Uint8Array;
}

/** Most that may wait; a single response may be larger. Bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Most that may wait. Responses. */
const MOST_RESPONSES = 1000;

/** A queue with one reader. */
export class PullInbox {
  readonly #variant: AdsVariant;
  readonly #waiting: UnjudgedResponse[] = [];
  #bytes = 0;

  constructor(variant: AdsVariant) {
    this.#variant = variant;
  }

  /** Puts a response in; false if there is no room. */
  put(response: UnjudgedResponse): boolean {
    if (this.#variant === "sotw") this.#supersede(response.head.type);
    if (this.#waiting.length > 0 && this.#bytes + response.bytes.length > MOST_BYTES) return false;
    if (this.#waiting.length >= MOST_RESPONSES) return false;
    this.#waiting.push(response);
    this.#bytes += response.bytes.length;
    return true;
  }

  /** Takes the next one out. */
  take(): UnjudgedResponse | undefined {
    const response = this.#waiting.shift();
    if (response !== undefined) this.#bytes -= response.bytes.length;
    return response;
  }

  #supersede(type: string): void {
    const index = this.#waiting.findIndex(({ head }) => head.type === type);
    if (index >= 0) this.#bytes -= this.#waiting.splice(index, 1)[0]!.bytes.length;
  }
}
