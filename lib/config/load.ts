/**
 * Loads a configuration: reads its files, checks and converts what changed, and says what is in effect
 * now. Knows what was in effect before, so that nothing that is broken takes anything away.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { OWN_KINDS } from "../model/own_names.ts";
import type { Settings } from "../model/settings.ts";
import { CauseFinder } from "./causes.ts";
import { SentState } from "./changes.ts";
import type { Converter } from "./converter.ts";
import { decide, type Decision } from "./decide.ts";
import { DEFAULTS } from "./defaults.ts";
import { type Environment, processEnvironment } from "./expand.ts";
import { FileSet } from "./file_set.ts";
import { findIncluded, findRoot, type Included, type Root, RootError } from "./files.ts";
import { boundFindings, locateFindings } from "./findings.ts";
import type { CollectionChange, LoadResult, Seed } from "./messages.ts";
import { decode } from "./parse.ts";
import { recordsOf } from "./seed.ts";
import type { SettingsInput } from "./schema.ts";
import type { LoadedService } from "./services.ts";
import { checkListenerPorts } from "./settings_envoy.ts";
import { isError } from "./source_file.ts";
import { parseSize } from "./units.ts";

/** What a reader works with. */
export interface ReaderOptions {
  readonly converter: Converter;
  /** Where `${NAME}` is looked up. Default: the environment of the process. */
  readonly environment?: Environment;
  /** `instance` where none is written. Default: the host's name. */
  readonly hostName?: string;
}

/** What a file says besides services. */
export interface WrittenSettings {
  /** Its path. */
  readonly file: string;
  readonly settings: SettingsInput;
}

/** Options of a load. */
export interface LoadOptions {
  /** Comes back with the result. */
  readonly id?: number;
  /** Forget what was given before: the result holds everything. */
  readonly full?: boolean;
}

/** Bytes of each of `--config`'s own files: they say the bound of the others, so theirs is fixed. */
export const MAIN_FILE_LIMIT = parseSize(DEFAULTS.file)!;

/** Reads one configuration, again and again. For one thread; never throws for what files hold. */
export class ConfigReader {
  readonly #config: string;
  readonly #converter: Converter;
  readonly #hostName: string;
  readonly #files: FileSet;
  readonly #sent = new SentState();
  readonly #causes = new CauseFinder();
  /** Settings of the seed, as long as some file may need them. */
  #seed: Settings | undefined;
  #loaded = false;
  #include: readonly string[] = [];
  #shape: string | undefined;
  /** Whether the next result that is usable has to hold everything. */
  #owesAll = true;
  #findings: readonly Finding[] = [];
  #services: readonly LoadedService[] = [];
  #written: readonly WrittenSettings[] = [];

  /** `config` is a file or folder, absolute. */
  constructor(config: string, options: ReaderOptions) {
    const { converter, environment = processEnvironment, hostName = Deno.hostname() } = options;
    this.#config = config;
    this.#converter = converter;
    this.#hostName = hostName;
    this.#files = new FileSet({ converter, environment });
  }

  /** What was last published: what broken files fall back to. Counts before the first load. */
  seed(seed: Seed): void {
    if (this.#loaded) return;
    this.#seed = seed.settings;
    const records = recordsOf(seed);
    this.#files.seed(records);
    this.#causes.seed(records, seed.settings);
  }

  /** The services in effect. */
  get services(): readonly LoadedService[] {
    return this.#services;
  }

  /** Loads the configuration as it is now. */
  load({ id = 0, full = false }: LoadOptions = {}): LoadResult {
    const start = performance.now();
    if (full) this.#owesAll = true;
    const root = this.#findRoot();
    if ("severity" in root) {
      this.#shape = root.message;
      return this.#unusable([root], [this.#config], { id, start });
    }
    this.#files.begin();
    const decision = decide({
      root,
      files: this.#files,
      converter: this.#converter,
      hostName: this.#hostName,
      mainLimit: MAIN_FILE_LIMIT,
      ...(this.#seed === undefined ? {} : { seed: this.#seed }),
    });
    const parsed = performance.now();
    const { include, included } = decision;
    this.#include = include;
    this.#shape = shapeOf(root, included);
    const watch = [...new Set([...root.watch, ...included.watch])];
    const findings = [...decision.findings, ...this.#checkTogether(decision)];
    const isEmpty = decision.choices.every(({ content }) => content.services.length === 0);
    // Nothing but mistakes, and nothing before: that is no reason to tell sinks that there are no services.
    const hopeless = isEmpty && !this.#loaded && this.#seed === undefined && findings.some(isError);
    if (decision.settings === undefined || hopeless) {
      return this.#unusable(findings, watch, { id, start });
    }
    const kept = this.#commit(decision);
    const everything = this.#owesAll;
    if (everything) this.#sent.clear();
    this.#owesAll = false;
    this.#findings = boundFindings(findings);
    return {
      kind: "loaded",
      id,
      ok: !findings.some(isError),
      usable: true,
      full: everything,
      findings: this.#findings,
      kept,
      settings: decision.settings,
      changes: this.#changes(),
      causes: this.#causes.next(decision.choices, decision.settings),
      watch,
      stats: {
        files: this.#files.size,
        filesParsed: this.#takeParses(),
        services: this.#services.length,
        parseMs: parsed - start,
        totalMs: performance.now() - start,
      },
    };
  }

  /** Whether a load would find anything that differs from the last one; files are compared by content. */
  hasChanged(): boolean {
    const root = this.#findRoot();
    if ("severity" in root) return this.#shape !== root.message;
    const shape = shapeOf(root, findIncluded(this.#include, root));
    return this.#shape !== shape || this.#files.differs();
  }

  /** The settings in effect as they are written, each with the path of its file. */
  get written(): readonly WrittenSettings[] {
    return this.#written;
  }

  /** The findings of the last load with line and column. */
  locate(): readonly Finding[] {
    return this.place(this.#findings);
  }

  /** Findings about what was loaded last, with line and column where the files have them. */
  place(findings: readonly Finding[]): readonly Finding[] {
    const byPath = new Map([...this.#files].map((file) => [file.path, file]));
    return locateFindings(findings, (path) => {
      const bytes = byPath.get(path)?.bytes;
      if (bytes === undefined) return undefined;
      const decoded = decode(bytes);
      return "text" in decoded ? decoded.text : undefined;
    });
  }

  #findRoot(): Root | Finding {
    try {
      return findRoot(this.#config);
    } catch (error) {
      if (!(error instanceof RootError)) throw error;
      return {
        severity: "error",
        rule: "config/read",
        message: error.message,
        position: { file: this.#config },
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      };
    }
  }

  /** Makes the decision what is in effect. Gives the names of files that are not in effect as they are. */
  #commit({ choices, present, usesSeed }: Decision): string[] {
    for (const { file, content, current } of choices) if (current) file.commit(content);
    this.#files.end(present);
    this.#loaded = true;
    if (!usesSeed) this.#seed = undefined;
    this.#services = choices.flatMap(({ content }) => content.services);
    this.#written = choices.flatMap(({ file, content: { settings } }) =>
      settings === undefined ? [] : [{ file: file.path, settings }]
    );
    return choices.filter(({ current }) => !current).map(({ file }) => file.name);
  }

  #changes(): CollectionChange[] {
    const all = this.#services.flatMap(({ resources }) => resources);
    const objects = OWN_KINDS.map((kind) =>
      this.#sent.change(kind, all.flatMap((one) => one.kind === kind ? [one.resource] : []))
    );
    const records = this.#sent.change("Service", this.#services.map(({ record }) => record));
    return [...objects, records].filter((change) => change !== undefined);
  }

  #checkTogether({ choices, settings }: Decision): Finding[] {
    const places = choices.flatMap(({ file, content, current }) =>
      content.services.map(({ name, service }, index) => ({ file, current, name, service, index }))
    );
    const services = places.map(({ service }) => service);
    const found = this.#converter.checkTogether(services);
    const ports = settings === undefined ? [] : checkListenerPorts(settings.envoy, services);
    const all = [...found, ...ports.map(({ service, problem }) => ({ service, finding: problem }))];
    return all.map(({ service, finding: { path, ...finding } }) => {
      const { file, current, name, index } = places[service]!;
      return {
        subject: name,
        ...finding,
        position: { file: file.path },
        ...(current ? { path: ["services", index, ...(path ?? [])] } : {}),
      };
    });
  }

  #unusable(
    findings: readonly Finding[],
    watch: readonly string[],
    { id, start }: { readonly id: number; readonly start: number },
  ): LoadResult {
    this.#findings = boundFindings(findings);
    for (const file of this.#files) file.release();
    const totalMs = performance.now() - start;
    return {
      kind: "loaded",
      id,
      ok: false,
      usable: false,
      full: false,
      findings: this.#findings,
      kept: [],
      changes: [],
      causes: [],
      watch,
      stats: {
        files: this.#files.size,
        filesParsed: this.#takeParses(),
        services: 0,
        parseMs: totalMs,
        totalMs,
      },
    };
  }

  #takeParses(): number {
    let parses = 0;
    for (const file of this.#files) {
      parses += file.parses;
      file.parses = 0;
    }
    return parses;
  }
}

/** Which files there are, and what of `include` is amiss. */
function shapeOf({ files }: Root, included: Included): string {
  return JSON.stringify([files, included.files, included.problems]);
}
