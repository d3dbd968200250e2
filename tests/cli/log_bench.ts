/** A log to look at. */
import { Log } from "../../lib/log.ts";

/** A log whose lines are kept, without their times. */
export function bench(level: "debug" | "info" = "info") {
  const lines: string[] = [];
  const sink = (line: string) => void lines.push(line.replace(/^\S+ /, "").trimEnd());
  return { log: new Log({ level, format: "text", sink }), lines };
}
