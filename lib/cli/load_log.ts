/**
 * What the log says of a load of the configuration.
 *
 * @module
 */
import type { LoadResult } from "../config/messages.ts";
import type { Log } from "../log.ts";
import type { ReloadState } from "./reloader.ts";

/** Says how a load went; `serving`: whether anything is published. */
export function logLoad(log: Log, result: LoadResult, state: ReloadState, serving: boolean): void {
  const logger = log.logger("config");
  const { files, filesParsed, services } = result.stats;
  const fields = { files, filesParsed, services, ms: Math.round(state.durationMs) };
  if (result.ok) return logger.info("loaded", fields);
  const { kept } = result;
  const held = kept.length === 0 ? {} : { kept: kept.join(" ") };
  logger.warn(`loaded with errors; ${consequence(result, serving)}`, { ...fields, ...held });
}

function consequence({ usable, kept }: LoadResult, serving: boolean): string {
  if (usable && kept.length > 0) return "the last good content of these files stays";
  if (usable) return "what is refused is not served";
  return serving ? "what is published stays" : "nothing of it can be used";
}
