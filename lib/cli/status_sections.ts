/**
 * Sections of lines on a screen that may be too small for them: each gets its share.
 *
 * @module
 */

/** A part with a title, of which some may be left out. */
export interface Section {
  readonly title: string;
  /** Titles of columns. */
  readonly columns: string;
  /** A row each, with the lines that belong to it. */
  readonly groups: readonly (readonly string[])[];
}

/** What there is room for. */
export interface Room {
  /** Lines; absent: as many as are needed. */
  readonly rows?: number;
  /** Which section comes first where there is no room for all; counts up by itself. */
  readonly turn: number;
  /** Writes the title of a section, with the number of groups left out. */
  readonly titleLine: (title: string, more: number) => string;
}

/** Lines that a section needs at the least: its title, its columns, a row. */
const LEAST = 3;

/**
 * The head, then the sections. Where there are not rows enough for everything, each section gets an
 * equal share, less those that need less; where not even that is enough, they are shown in turn.
 */
export function sectionLines(
  head: readonly string[],
  sections: readonly Section[],
  room: Room,
): string[] {
  const { rows = Infinity, turn, titleLine } = room;
  const all = sections.flatMap(({ title, columns, groups }) => [
    ...["", titleLine(title, 0), columns],
    ...groups.flat(),
  ]);
  if (head.length + all.length <= rows) return [...head, ...all];
  const top = shortened(head, Math.max(1, rows - (sections.length > 0 ? LEAST + 1 : 0)));
  const fitting = Math.floor((rows - top.length) / LEAST);
  const first = fitting < sections.length ? turn % sections.length : 0;
  const turned = [...sections.slice(first), ...sections.slice(0, first)];
  const shown = turned.slice(0, Math.max(1, fitting));
  const shares = sharesOf(shown, rows - top.length - 2 * shown.length);
  return [...top, ...shown.flatMap((one, at) => sharedLines(one, shares[at]!, titleLine))];
}

/** How many lines of its groups each section gets. */
function sharesOf(sections: readonly Section[], lines: number): number[] {
  const needs = sections.map(({ groups }) => groups.flat().length);
  const shares = needs.map(() => 0);
  let left = lines;
  // The most modest first: what it leaves is shared among the others.
  const order = needs.map((_, at) => at).sort((a, b) => needs[a]! - needs[b]!);
  order.forEach((at, done) => {
    shares[at] = Math.min(needs[at]!, Math.floor(left / (order.length - done)));
    left -= shares[at]!;
  });
  return shares;
}

function sharedLines(
  { title, columns, groups }: Section,
  share: number,
  titleLine: Room["titleLine"],
): string[] {
  const lines: string[] = [];
  let shown = 0;
  while (lines.length < share && shown < groups.length) {
    lines.push(...groups[shown++]!.slice(0, share - lines.length));
  }
  return [titleLine(title, groups.length - shown), columns, ...lines];
}

function shortened(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const shown = Math.max(1, most - 1);
  return [...lines.slice(0, shown), `… ${lines.length - shown} more lines`].slice(0, most);
}
