/**
 * Names from outside, made fit for a message.
 *
 * @module
 */

/** Longest part of a name that is repeated in a message. Characters. */
const SHOWN = 200;

/** A name from outside in quotation marks, cut where it is very long. */
export function quote(name: string): string {
  return JSON.stringify(name.length <= SHOWN ? name : `${name.slice(0, SHOWN)}…`);
}
