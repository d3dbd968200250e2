/**
 * Files that hold a bearer token.
 *
 * @module
 */
import { readSmallFile } from "./small_file.ts";

/** A token file is not as it should be. The message names the file, never what it holds. */
export class TokenFileError extends Error {
  override readonly name = "TokenFileError";
}

/** The largest token that is sent. Bytes; HTTP/2 servers take 8 to 16 KiB of headers in all. */
const LARGEST = 8192;

/** The token in a file, without white space around it. Rejects with a {@link TokenFileError}. */
export async function readToken(path: string): Promise<string> {
  const read = await readSmallFile(path, LARGEST);
  if (!read.ok) throw new TokenFileError(`the token file ${path} ${read.reason}`);
  const token = read.text.trim();
  if (token === "") throw new TokenFileError(`the token file ${path} is empty`);
  if (/[\r\n]/.test(token)) {
    throw new TokenFileError(
      `the token file ${path} has more than one line; it must hold the token alone`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenFileError(
      `the token file ${path} holds spaces or characters that a header cannot carry`,
    );
  }
  return token;
}
