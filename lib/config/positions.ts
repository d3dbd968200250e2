/**
 * Where in a text the parts of its document stand. The parser's own events carry offsets, so a second
 * parser is not needed and a large file costs no more than reading it once again.
 *
 * @module
 */
import {
  type Event,
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from "js-yaml";
import { PARSER_OPTIONS } from "./parse.ts";
import type { Path } from "./problem.ts";

/** A line and a column, both from 1; columns in UTF-16 code units. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/**
 * The place of each path, in their order: of a key for a value of a mapping, of the item for an item of
 * a list. What is not there has the place of the nearest thing around it. Nothing where the text is no
 * YAML.
 */
export function locate(text: string, paths: readonly Path[]): readonly (LineColumn | undefined)[] {
  let events: readonly Event[];
  try {
    events = parseEvents(text, PARSER_OPTIONS);
  } catch {
    return paths.map(() => undefined);
  }
  const root: Wanted = { children: new Map(), targets: [] };
  paths.forEach((path, target) => want(root, path, target));
  const offsets: number[] = paths.map(() => 0);
  new Walk(text, events, offsets).document(root);
  return lineColumns(text, offsets);
}

/** The paths that are looked for, as a tree. */
interface Wanted {
  readonly children: Map<string | number, Wanted>;
  readonly targets: number[];
}

function want(root: Wanted, path: Path, target: number): void {
  let node = root;
  node.targets.push(target);
  for (const part of path) {
    let child = node.children.get(part);
    if (child === undefined) {
      child = { children: new Map(), targets: [] };
      node.children.set(part, child);
    }
    child.targets.push(target); // deeper parts overwrite it, if they are found
    node = child;
  }
}

/** Walks the events once, with the part of the tree that is wanted below the current node. */
class Walk {
  #next = 0;

  constructor(
    readonly text: string,
    readonly events: readonly Event[],
    readonly offsets: number[],
  ) {}

  document(root: Wanted): void {
    if (this.events[this.#next++]?.type === EVENT_ID.DOCUMENT) this.#node(root);
  }

  #node(wanted: Wanted | undefined): void {
    const event = this.events[this.#next++];
    if (event === undefined) return;
    if (event.type === EVENT_ID.MAPPING) this.#mapping(wanted);
    else if (event.type === EVENT_ID.SEQUENCE) this.#sequence(wanted);
  }

  #mapping(wanted: Wanted | undefined): void {
    while (!this.#ends()) {
      const key = this.events[this.#next]!;
      const child = key.type === EVENT_ID.SCALAR
        ? wanted?.children.get(getScalarValue(this.text, key))
        : undefined;
      if (child !== undefined) this.#mark(child, startOf(key));
      this.#node(undefined);
      this.#node(child);
    }
    this.#next++;
  }

  #sequence(wanted: Wanted | undefined): void {
    for (let index = 0; !this.#ends(); index++) {
      const child = wanted?.children.get(index);
      if (child !== undefined) this.#mark(child, startOf(this.events[this.#next]!));
      this.#node(child);
    }
    this.#next++;
  }

  #ends(): boolean {
    const event = this.events[this.#next];
    return event === undefined || event.type === EVENT_ID.POP;
  }

  #mark({ targets }: Wanted, offset: number): void {
    for (const target of targets) this.offsets[target] = offset;
  }
}

/** Offset of a node: its tag, its anchor, or itself. */
function startOf(event: Event): number {
  if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return 0;
  const starts = [event.anchorStart < 0 ? -1 : event.anchorStart - 1];
  if (event.type !== EVENT_ID.ALIAS) starts.push(event.tagStart);
  if (event.type === EVENT_ID.SCALAR) starts.push(event.valueStart - (isQuoted(event) ? 1 : 0));
  else if (event.type !== EVENT_ID.ALIAS) starts.push(event.start);
  return Math.min(...starts.filter((start) => start >= 0));
}

/** The value of a quoted text begins behind its quotation mark. */
function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

/** Lines and columns of offsets, with one pass over the text. */
function lineColumns(text: string, offsets: readonly number[]): LineColumn[] {
  const order = offsets.map((_, index) => index).sort((a, b) => offsets[a]! - offsets[b]!);
  const places: LineColumn[] = [];
  let line = 1;
  let lineStart = 0;
  for (const index of order) {
    const offset = offsets[index]!;
    for (;;) {
      const newline = text.indexOf("\n", lineStart);
      if (newline < 0 || newline >= offset) break;
      line++;
      lineStart = newline + 1;
    }
    places[index] = { line, column: offset - lineStart + 1 };
  }
  return places;
}
