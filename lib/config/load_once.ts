/**
 * Loads a configuration once, without a worker: for commands that look at it and end.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { ServiceRecord } from "../model/service.ts";
import type { Settings } from "../model/settings.ts";
import type { OwnResource } from "./converter.ts";
import { ConfigReader, type ReaderOptions } from "./load.ts";
import type { LoadResult } from "./messages.ts";

/** What a configuration comes to. */
export interface Loaded {
  /** The load itself, for its `ok`, `usable`, `watch` and `stats`. */
  readonly result: LoadResult;
  /** Every finding, with its line and column. */
  readonly findings: readonly Finding[];
  /** Absent where nothing could be made of the configuration. */
  readonly settings?: Settings;
  /** What the services become, of each in turn. */
  readonly resources: readonly OwnResource[];
  readonly services: readonly ServiceRecord[];
}

/** Loads the configuration at `config`, an absolute path. Holds the thread while it does. */
export function loadOnce(config: string, options: ReaderOptions): Loaded {
  const reader = new ConfigReader(config, options);
  const result = reader.load();
  return {
    result,
    findings: reader.locate(),
    ...(result.settings === undefined ? {} : { settings: result.settings }),
    resources: reader.services.flatMap(({ resources }) => resources),
    services: reader.services.map(({ file, service }) => ({ file, service })),
  };
}
