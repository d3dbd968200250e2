/**
 * How we say who we are to those whom we dial.
 *
 * @module
 */

/** Metadata of a stream by which a source, or a client, says what it is called. */
export const INSTANCE_HEADER = "x-pinnace-instance";
