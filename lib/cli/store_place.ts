/**
 * Where the store is unless `--store` says.
 *
 * @module
 */
import { dirname, join } from "node:path";

/** `data/` beside the configuration file, or in the configuration folder. `config` is absolute. */
export function defaultStore(config: string): string {
  return join(isFolder(config) ? config : dirname(config), "data");
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false; // whoever reads it says what is wrong with it
  }
}
