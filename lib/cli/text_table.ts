/**
 * Tables of text: as wide as they need to be, or as narrow as they have to.
 *
 * @module
 */
import { fit, paint, type Piece, type Style, visible, widthOf } from "./terminal.ts";

/** A column. */
export interface Column {
  readonly title: string;
  /** Cells that it keeps where there are too few for all; absent: it is never cut. */
  readonly least?: number;
}

/** One cell: text as it came, and how it stands out. */
export type Cell = string | Piece;

/** How lines are laid out. */
export interface Layout {
  /** Cells of a line; absent: as many as are needed. */
  readonly width?: number;
  readonly colours: boolean;
}

/** A cell that stands out. Its text may be whatever a peer said. */
export function cell(text: string, style: Style): Piece {
  return { text, style };
}

/** What a cell says. */
export function textOf(one: Cell): string {
  return typeof one === "string" ? one : one.text;
}

/** Cells between columns. */
const GAP = 2;

/** Cells that the table takes where its columns are as narrow as they may be. */
export function leastWidth(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): number {
  const { shown, natural } = measured(columns, rows.map((row) => row.map(pieceOf)));
  const least = shown.map((at, index) => Math.min(natural[index]!, columns[at]!.least ?? Infinity));
  return least.reduce((sum, one) => sum + one, 0) + GAP * Math.max(0, least.length - 1);
}

/** The lines of a table, the titles first. Columns that are empty in every row are left out. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: Layout,
): string[] {
  const all = rows.map((row) => row.map(pieceOf));
  const { shown, natural } = measured(columns, all);
  const widths = narrowed(natural, shown.map((at) => columns[at]!.least), layout.width);
  const head = shown.map((at) => cell(columns[at]!.title, "dim"));
  const body = all.map((row) => shown.map((at) => row[at] ?? cell("", "plain")));
  return [head, ...body].map((row) => lineOf(row, widths, layout));
}

/** One line of pieces, cut where it is too long. */
export function textLine(pieces: readonly Cell[], { width, colours }: Layout): string {
  let left = width ?? Infinity;
  const out: string[] = [];
  for (const piece of pieces.map(pieceOf)) {
    const text = fit(piece.text, left);
    left -= widthOf(text);
    out.push(paint({ text, style: piece.style }, colours));
    if (text !== piece.text) break;
  }
  return out.join("");
}

/** The columns that are not empty in every row, by their index, and how wide they would like to be. */
function measured(columns: readonly Column[], rows: readonly (readonly Piece[])[]) {
  const shown = columns.map((_, at) => at).filter((at) => rows.some((row) => row[at]?.text !== ""));
  const natural = shown.map((at) =>
    rows.reduce(
      (most, row) => Math.max(most, widthOf(row[at]?.text ?? "")),
      widthOf(columns[at]!.title),
    )
  );
  return { shown, natural };
}

function pieceOf(one: Cell): Piece {
  return typeof one === "string"
    ? { text: visible(one), style: "plain" }
    : { text: visible(one.text), style: one.style };
}

function lineOf(row: readonly Piece[], widths: readonly number[], layout: Layout): string {
  const pieces: Piece[] = [];
  let space = 0; // of what is empty at the end of a line nothing is written
  row.forEach(({ text, style }, at) => {
    const shown = fit(text, widths[at]!);
    if (shown !== "") {
      pieces.push(cell(" ".repeat(space), "plain"), { text: shown, style });
      space = 0;
    }
    space += widths[at]! - widthOf(shown) + GAP;
  });
  return textLine(pieces, layout);
}

/** Takes cells from the widest columns that may give any, until all fits or none may. */
function narrowed(
  natural: readonly number[],
  least: readonly (number | undefined)[],
  width: number | undefined,
): number[] {
  const widths = [...natural];
  if (width === undefined || widths.length === 0) return widths;
  let over = widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1) - width;
  while (over > 0) {
    let widest = -1;
    widths.forEach((one, at) => {
      if (one <= (least[at] ?? Infinity)) return;
      if (widest < 0 || one > widths[widest]!) widest = at;
    });
    if (widest < 0) break;
    widths[widest]!--;
    over--;
  }
  return widths;
}
