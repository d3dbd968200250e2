/**
 * Shows something that changes: on a terminal in place, elsewhere again whenever it is another.
 *
 * @module
 */
import { systemClock } from "../rollout/clock.ts";
import type { Screen } from "./terminal.ts";

/** What there is to show at one moment. */
export interface Frame {
  /** Ends with a line end; no line is longer than the screen is wide. */
  readonly text: string;
  /** Equal as long as nothing changed that is worth saying. */
  readonly essence: string;
}

/** How something is watched. */
export interface WatchOptions {
  /** Milliseconds from one look to the next. */
  readonly every: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Whether a terminal is drawn over; else each change is written below the last. */
  readonly redraw: boolean;
  readonly frames: () => Promise<Frame>;
}

const ENTER = "\x1b[?1049h\x1b[?25l"; // the alternate screen, without a cursor
const LEAVE = "\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

/** Shows frames until told to stop, or nobody reads any more. A terminal is left as it was found. */
export async function watchScreen(screen: Screen, options: WatchOptions): Promise<void> {
  const { every, frames } = options;
  const signal = AbortSignal.any([options.signal, screen.gone]);
  const inPlace = options.redraw && screen.isTerminal;
  let last: string | undefined;
  if (inPlace) await screen.write(ENTER);
  try {
    while (!signal.aborted) {
      const { text, essence } = await frames();
      if (signal.aborted) break;
      if (inPlace) await screen.write(inPlaceText(text, screen.size()?.rows));
      else if (essence !== last) {
        const gap = options.redraw && last !== undefined ? "\n" : "";
        await screen.write(gap + text);
      }
      last = essence;
      await systemClock.sleep(every, signal);
    }
  } finally {
    if (inPlace) await screen.write(LEAVE);
  }
}

/** The text over what was there, cut where the screen ends. */
function inPlaceText(text: string, rows: number | undefined): string {
  const lines = text.trimEnd().split("\n");
  const shown = rows !== undefined && lines.length > rows
    ? [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more lines`]
    : lines;
  // Cleared before it is written: at the end of a full line it would take the last character.
  return HOME + shown.map((line) => CLEAR_LINE + line).join("\n") + CLEAR_BELOW;
}
