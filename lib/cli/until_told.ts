/**
 * Commands that go on until somebody stops them.
 *
 * @module
 */

/** Aborts at SIGINT (Ctrl-C) and SIGTERM. Disposing it leaves them to the system again. */
export function untilTold(): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, end);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, end);
    },
  };
}
