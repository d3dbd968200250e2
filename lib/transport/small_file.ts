/**
 * Small files of text that somebody else writes: certificates, keys, tokens.
 *
 * @module
 */

/** What became of reading a file. `reason` goes on after the file's name: `does not exist`. */
export type SmallFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly missing: boolean; readonly reason: string };

/** Reads a file of at most `most` bytes. Does not reject; the reason never quotes the content. */
export async function readSmallFile(path: string, most: number): Promise<SmallFile> {
  try {
    const { size, isFile } = await Deno.stat(path); // opening a FIFO would wait for whoever writes it
    if (!isFile) return failed("is not a file");
    if (size > most) return failed(`is larger than ${most} bytes`);
    const bytes = await readUpTo(path, size, most);
    if (bytes === undefined) return failed(`is larger than ${most} bytes`);
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    return whyNot(error);
  }
}

/** Reads a file that was of this size; undefined where it is larger than `most` by now. */
async function readUpTo(
  path: string,
  size: number,
  most: number,
): Promise<Uint8Array | undefined> {
  using file = await Deno.open(path, { read: true });
  let buffer = new Uint8Array(size + 1); // what comes after the size known is noticed
  let length = 0;
  while (true) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) return buffer.subarray(0, length);
    length += count;
    if (length > most) return undefined;
    if (length < buffer.length) continue;
    const larger = new Uint8Array(Math.min(2 * length, most) + 1); // it grew meanwhile
    larger.set(buffer);
    buffer = larger;
  }
}

function whyNot(error: unknown): SmallFile {
  if (error instanceof Deno.errors.NotFound) {
    return { ok: false, missing: true, reason: "does not exist" };
  }
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return failed("may not be read by this user");
  }
  if (error instanceof TypeError) return failed("is not text");
  return failed("cannot be read");
}

function failed(reason: string): SmallFile {
  return { ok: false, missing: false, reason };
}
