/**
 * The built peers, and what to do where one is not there.
 *
 * @module
 */

/** Folder of the built peers. */
export const BIN = new URL("../bin/", import.meta.url);

/** Path of a built peer. */
export function binary(name: string): string {
  return new URL(name, BIN).pathname;
}

/**
 * A test that needs these peers. Without them it is ignored, which the runner reports; where `CI` is
 * set it fails instead, so that nothing goes unproved in silence.
 */
export function interopTest(
  name: string,
  peers: readonly string[],
  run: () => Promise<void>,
): void {
  const missing = peers.filter((peer) => !exists(binary(peer)));
  const inCI = (Deno.env.get("CI") ?? "") !== "";
  Deno.test({
    name,
    ignore: missing.length > 0 && !inCI,
    async fn() {
      if (missing.length > 0) {
        throw new Error(`not built: ${missing.join(", ")}; \`deno task interop\` builds them`);
      }
      await run();
    },
  });
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
