/**
 * Options as they are written on the command line.
 *
 * @module
 */

/** An option's name on the command line, without its dashes: `tokenFile` → `token-file`. */
export function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
