/**
 * What becomes of a damaged file of a source: it is kept, for a person to look at.
 *
 * @module
 */
import { join } from "node:path";
import type { FileLayer } from "../snapshot/file_layer.ts";
import { sourceFileRole } from "./source_file_name.ts";

/** Damaged files kept for a person to look at. */
const KEEP_DAMAGED = 5;

/**
 * Sets the file `name` in `folder` aside as `<name>.damaged`. Gives back the names of those set aside
 * earlier that are more than are kept, oldest names first. Throws the file system's error.
 */
export async function setAside(
  files: FileLayer,
  folder: string,
  name: string,
): Promise<readonly string[]> {
  const aside = `${name}.damaged`;
  await files.rename(join(folder, name), join(folder, aside));
  const names = (await files.list(folder)).toSorted();
  const old = names.filter((one) => one !== aside && sourceFileRole(one) === "damaged");
  return old.slice(0, -(KEEP_DAMAGED - 1));
}
