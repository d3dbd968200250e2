/**
 * Names of the files in a folder of sources' sets.
 *
 * @module
 */
import { contentHash } from "../wire/hash.ts";

const NAME = /^[0-9a-f]{16}\.(source)(?:\.(tmp|damaged))?$/;

/** What a file in the folder is: a set, one half written, or one set aside. */
export type SourceFileRole = "source" | "tmp" | "damaged";

/** Name of a source's file: a source's own may be anything, a hash of it can be the name of a file. */
export function sourceFileName(source: string): string {
  return `${contentHash([source])}.source`;
}

/** What the file of this name is; undefined: none of ours. */
export function sourceFileRole(name: string): SourceFileRole | undefined {
  const [, whole, role] = NAME.exec(name) ?? [];
  return (role ?? whole) as SourceFileRole | undefined;
}
