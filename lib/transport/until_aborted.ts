/**
 * Waiting that can be given up.
 *
 * @module
 */

/** What the promise comes to, or a rejection with the signal's reason as soon as it is aborted; what comes later is nobody's. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {}); // it may fail when nobody waits any more
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
