/**
 * What a terminal can show: text without control characters, cut to a width, coloured where that is
 * wanted.
 *
 * @module
 */

/** How a piece of text stands out. */
export type Style = "plain" | "bold" | "dim" | "good" | "warn" | "bad";

const CODES: Readonly<Record<Style, string>> = {
  plain: "",
  bold: "1",
  dim: "2",
  good: "32",
  warn: "33",
  bad: "31",
};

/** A piece of text and how it stands out. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

/** What is written to. */
export interface Screen {
  /** Whether it is a terminal, on which what was written can be written over. */
  readonly isTerminal: boolean;
  readonly colours: boolean;
  /** Characters a line and lines; undefined: unbounded, since it is no terminal. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
  /** Aborted once a write found that whoever read has gone: nobody will see any more. */
  readonly gone: AbortSignal;
  /** Writes all of it; a reader that went away is no failure. */
  write(text: string): Promise<void>;
}

/** Standard output or error as a screen. Colours only on a terminal, and not where NO_COLOR is set. */
export function screenOf(to: Pick<typeof Deno.stdout, "isTerminal" | "write">): Screen {
  const isTerminal = to.isTerminal();
  const gone = new AbortController();
  return {
    isTerminal,
    gone: gone.signal,
    colours: isTerminal && !Deno.noColor,
    size: () => isTerminal ? consoleSize() : undefined,
    async write(text) {
      if (gone.signal.aborted) return;
      const bytes = new TextEncoder().encode(text);
      try {
        for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
      } catch (error) {
        if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
        gone.abort();
      }
    },
  };
}

function consoleSize(): { columns: number; rows: number } | undefined {
  try {
    const { columns, rows } = Deno.consoleSize();
    return columns > 0 && rows > 0 ? { columns, rows } : undefined;
  } catch {
    return undefined; // no controlling terminal, whatever standard output says
  }
}

/** The text with control characters, line ends and what turns text around made visible. */
export function visible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0)!;
    return SHORT[c] ?? `\\u{${code.toString(16)}}`;
  });
}

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Cells of a terminal that the text takes: none for marks that combine, two for wide characters. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const c of text) width += /\p{M}/u.test(c) ? 0 : WIDE.test(c) ? 2 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}|[\u{20000}-\u{3fffd}]/u;

/** The text in at most so many cells, with an ellipsis where it was cut. */
export function fit(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text;
  if (cells <= 0) return "";
  let out = "";
  let width = 0;
  for (const c of text) {
    width += widthOf(c);
    if (width > cells - 1) break;
    out += c;
  }
  return `${out}…`;
}

/** The text as it is to be written. */
export function paint({ text, style }: Piece, colours: boolean): string {
  const code = CODES[style];
  return colours && code !== "" && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
}

/** A duration for people: `850ms`, `12s`, `5m12s`, `2h10m`, `4d3h`. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole}ms`;
  const seconds = Math.floor(whole / 1000);
  for (const [unit, size, next, small] of UNITS) {
    if (seconds < size) continue;
    const rest = Math.floor((seconds % size) / small);
    return `${Math.floor(seconds / size)}${unit}${rest === 0 ? "" : `${rest}${next}`}`;
  }
  return `${seconds}s`;
}

const UNITS = [
  ["d", 86_400, "h", 3600],
  ["h", 3600, "m", 60],
  ["m", 60, "s", 1],
] as const;
