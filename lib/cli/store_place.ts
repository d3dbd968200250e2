/**
 * Where the configuration's folder is, and the store unless `--store` says.
 *
 * @module
 */
import { dirname, join } from "node:path";

/** `data/` beside the configuration file, or in the configuration folder. `config` is absolute. */
export function defaultStore(config: string): string {
  return join(folderOf(config), "data");
}

/** The folder that relative paths of the configuration start from. `config` is absolute. */
export function folderOf(config: string): string {
  return isFolder(config) ? config : dirname(config);
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false; // whoever reads it says what is wrong with it
  }
}
