/**
 * How long to wait before the next attempt: exponential with jitter, so that many dialers do not come
 * back together.
 *
 * @module
 */

/** Bounds of a back-off. Milliseconds. */
export interface Backoff {
  readonly first: number;
  readonly most: number;
}

/** What dial-outs use: from 1 s to 30 s. */
export const DIAL_BACKOFF: Backoff = { first: 1000, most: 30_000 };

/**
 * The delay before attempt number `attempt` (1 is the first retry), in milliseconds: the exponential
 * value, of which up to a half is taken off by `random` (0 to 1).
 */
export function backoffDelay(attempt: number, random: number, bounds: Backoff): number {
  const whole = Math.min(bounds.most, bounds.first * 2 ** Math.min(attempt - 1, 30));
  return whole * (1 - random / 2);
}
