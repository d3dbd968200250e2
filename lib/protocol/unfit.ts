/**
 * Responses that cannot be answered by the rules of ADS.
 *
 * @module
 */
import { quote } from "./quote.ts";

/** Longest nonce or version that is kept and repeated. Characters. */
const LONGEST_TOKEN = 4096;

/** Most responses of one type that may wait for their verdicts. */
const MOST_PENDING = 100;

/** Of one type, what decides. */
export interface Unanswered {
  readonly typeUrl: string;
  /** By nonce, versions of responses without a verdict. */
  readonly pending: ReadonlyMap<string, string>;
}

/** Why a response of this nonce and version cannot be answered, if it cannot. */
export function unfit(
  { typeUrl, pending }: Unanswered,
  nonce: string,
  version: string,
): string | undefined {
  const what = `the response of ${quote(typeUrl)}`;
  if (nonce === "") {
    return `${what} has no nonce, so nothing can be answered that is not a new request`;
  }
  if (nonce.length > LONGEST_TOKEN) {
    return `${what} has a nonce of more than ${LONGEST_TOKEN} characters`;
  }
  if (version.length > LONGEST_TOKEN) {
    return `${what} has a version of more than ${LONGEST_TOKEN} characters`;
  }
  if (pending.has(nonce)) return `${what} has the nonce ${quote(nonce)} of one not answered yet`;
  if (pending.size >= MOST_PENDING) {
    return `${MOST_PENDING} responses of ${quote(typeUrl)} came without waiting for an answer`;
  }
  return undefined;
}
