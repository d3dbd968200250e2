/**
 * Free ports of the loopback interface.
 *
 * @module
 */

/** That many different ports, free at this moment. */
export function freePorts(count: number): number[] {
  const listeners = Array.from(
    { length: count },
    () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  );
  try {
    return listeners.map((listener) => listener.addr.port);
  } finally {
    for (const listener of listeners) listener.close();
  }
}

/** One free port. */
export function freePort(): number {
  return freePorts(1)[0]!;
}
