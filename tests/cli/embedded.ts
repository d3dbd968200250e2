/**
 * What `deno compile` put into a binary, read back from the binary itself.
 *
 * @module
 */

/** The embedded program. */
export interface Embedded {
  /** As written for the runtime: `allow_net: []` allows all, `null` nothing. */
  readonly permissions: Readonly<Record<string, unknown>>;
  /** The files, by name. */
  readonly files: ReadonlyMap<string, string>;
}

/** Stands at the beginning (twice) and at the end of what is embedded. */
const MARK = "d3n0l4nd";

interface Entry {
  readonly File: { readonly n: string; readonly o: readonly [number, number] };
}

/**
 * Reads what a binary has beyond its runtime, which is `runtime` bytes long. Throws where it is not
 * built as those of the pinned Deno are.
 */
export async function readEmbedded(binary: string, runtime: number): Promise<Embedded> {
  const bytes = await readFrom(binary, runtime);
  const view = new DataView(bytes.buffer);
  const text = new TextDecoder("latin1").decode(bytes);
  const start = text.lastIndexOf(MARK + MARK);
  if (start < 0) throw new Error(`nothing is embedded in ${binary}`);
  const length = (at: number) => Number(view.getBigUint64(at, true));
  const json = (from: number, size: number) =>
    JSON.parse(new TextDecoder().decode(bytes.subarray(from, from + size)));

  const head = start + 2 * MARK.length;
  const metadata = json(head + 8, length(head));
  const tree = text.indexOf("[{", head + 8 + length(head));
  const entries: readonly Entry[] = json(tree, length(tree - 8));
  const content = tree + length(tree - 8) + 8;
  const end = content + length(content - 8);
  if (text.slice(end, end + MARK.length) !== MARK) throw new Error("what is embedded has no end");
  const files = entries.map(({ File: { n, o: [at, size] } }) => {
    const from = content + at;
    return [n, new TextDecoder().decode(bytes.subarray(from, from + size))] as const;
  });
  return { permissions: metadata.permissions, files: new Map(files) };
}

async function readFrom(path: string, offset: number): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  await file.seek(offset, Deno.SeekMode.Start);
  return new Uint8Array(await new Response(file.readable).arrayBuffer());
}
