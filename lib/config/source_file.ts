/**
 * One file of the configuration: what it holds now, and what of it is in effect. The two differ while
 * the file is broken or in conflict with another, for a file is all or nothing.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Service } from "../model/service.ts";
import type { DefaultSettings } from "../model/settings.ts";
import { check } from "./check.ts";
import type { Converter } from "./converter.ts";
import type { Environment } from "./expand.ts";
import type { ConfigFile } from "./files.ts";
import { decode, KEEP_NONE, parse, type SyntaxProblem } from "./parse.ts";
import { type Problem, problem, toFinding } from "./problem.ts";
import { type Allowance, equal, type FileBytes, looksCutOff, readBounded } from "./read_file.ts";
import { configFileSchema, includedFileSchema, type SettingsInput } from "./schema.ts";
import { type LoadedService, loadService, readServices } from "./services.ts";
import { checkSettings } from "./settings.ts";

/** What a file without errors holds. */
export interface Content {
  readonly services: readonly LoadedService[];
  /** Settings of a `--config` file; absent where the content came from a seed. */
  readonly settings?: SettingsInput;
  /** The bytes it was read from; absent where it came from a seed. */
  readonly bytes?: Uint8Array;
}

/** What a file holds besides services. */
export interface Head {
  readonly ok: boolean;
  /** Of a `--config` file. */
  readonly settings: SettingsInput;
}

/** What a file holds, services included; no content where any of it is wrong. */
export interface Body {
  readonly content?: Content;
  readonly findings: readonly Finding[];
}

/** What reading and checking depend on. */
export interface ReadContext {
  readonly converter: Converter;
  readonly environment: Environment;
}

type Document = Readonly<Record<string, unknown>>;

/** One file of the configuration. */
export class SourceFile implements ConfigFile {
  readonly path: string;
  readonly name: string;
  /** Whether it is one of `--config`'s own, which may hold settings. */
  readonly main: boolean;
  /** How often it was parsed. */
  parses = 0;

  readonly #context: ReadContext;
  #bytes: Uint8Array | undefined;
  #failure: Problem | undefined;
  #document: Document | undefined;
  #head: (Head & { readonly findings: readonly Finding[] }) | undefined;
  #body: Body | undefined;
  #bodyKey: string | undefined;
  #known: ReadonlyMap<string, LoadedService> = new Map();
  #effective: Content | undefined;
  /** Services of the seed, until they are asked for or replaced. */
  #seed: readonly Service[];
  #seedFindings: readonly Finding[] = [];

  /** `seed` is what was last published of this file, before anything was loaded. */
  constructor(
    file: ConfigFile,
    main: boolean,
    context: ReadContext,
    seed: readonly Service[] = [],
  ) {
    this.path = file.path;
    this.name = file.name;
    this.main = main;
    this.#context = context;
    this.#seed = seed;
  }

  /** What of it is in effect: the last good content. */
  get effective(): Content | undefined {
    if (this.#effective === undefined && this.#seed.length > 0) this.#takeSeed();
    return this.#effective;
  }

  /** Makes this content the one in effect. */
  commit(content: Content): void {
    this.#effective = content;
    this.#seed = [];
    this.#seedFindings = [];
  }

  /** Whether this very content is in effect. */
  holds(content: Content | undefined): boolean {
    return content !== undefined && this.#effective === content;
  }

  /** The bytes last read. */
  get bytes(): Uint8Array | undefined {
    return this.#bytes;
  }

  /** Reads the file. */
  refresh(allowance: Allowance): void {
    const now = readBounded(this.path, allowance);
    if (this.#isSame(now)) return;
    this.#bytes = now.bytes;
    this.#failure = now.failure;
    this.#document = this.#head = this.#body = undefined;
  }

  /** Whether the file differs from what was last read. */
  differs(allowance: Allowance): boolean {
    return !this.#isSame(readBounded(this.path, allowance));
  }

  #isSame({ bytes, failure }: FileBytes): boolean {
    if (bytes !== undefined) return this.#bytes !== undefined && equal(bytes, this.#bytes);
    return this.#bytes === undefined && failure?.message === this.#failure?.message;
  }

  /** What the file holds besides services. */
  head(): Head {
    return this.#readHead();
  }

  /** What the file holds, its services with these defaults. */
  body(defaults: DefaultSettings): Body {
    const key = JSON.stringify(defaults);
    if (this.#body === undefined || this.#bodyKey !== key) {
      const known = this.#bodyKey === key ? this.#known : new Map<string, LoadedService>();
      this.#body = this.#readBody(defaults, known);
      this.#bodyKey = key;
    }
    return this.#body;
  }

  /** Everything that is to be said of the file as it was last read. */
  get findings(): readonly Finding[] {
    const head = this.#head?.findings ?? [];
    const body = this.#head?.ok === true ? this.#body?.findings ?? [] : [];
    return [...this.#seedFindings, ...head, ...body];
  }

  /** Lets go of what is only needed during a load. */
  release(): void {
    this.#document = undefined;
  }

  #readHead(): Head & { readonly findings: readonly Finding[] } {
    return this.#head ??= this.#makeHead();
  }

  #makeHead(): Head & { readonly findings: readonly Finding[] } {
    const parsed = this.#parse();
    if ("problem" in parsed) return this.#brokenHead([parsed.problem]);
    const { document } = parsed;
    const schema = this.main ? configFileSchema : includedFileSchema;
    const problems = [...checkManifest(document), ...this.#checkGone(document)];
    if (problems.length > 0) return this.#brokenHead(problems);
    const checked = check<{ services?: unknown[] | undefined }>(schema, document);
    if (!checked.ok) return this.#brokenHead(checked.problems);
    const { services: _, ...settings } = checked.value;
    const found = this.main ? checkSettings(settings, this.#context.environment) : [];
    if (found.some(isError)) return this.#brokenHead(found);
    return { ok: true, settings, findings: found.map((p) => this.#finding(p)) };
  }

  #brokenHead(problems: readonly Problem[]): Head & { readonly findings: readonly Finding[] } {
    return { ok: false, settings: {}, findings: problems.map((p) => this.#finding(p)) };
  }

  #readBody(defaults: DefaultSettings, known: ReadonlyMap<string, LoadedService>): Body {
    if (!this.#readHead().ok) return { findings: [] };
    const parsed = this.#parse();
    if ("problem" in parsed) return { findings: [this.#finding(parsed.problem)] };
    const list = (parsed.document.services ?? []) as readonly unknown[];
    const { converter } = this.#context;
    const read = readServices(list, { file: this.name, defaults, converter, known });
    this.#known = read.known;
    const findings = read.problems.map(({ problem, prefix, subject }) =>
      toFinding(problem, this.path, prefix, subject)
    );
    if (read.services === undefined) return { findings };
    const settings = this.main ? { settings: this.#readHead().settings } : {};
    const bytes = this.#bytes === undefined ? {} : { bytes: this.#bytes };
    return { content: { services: read.services, ...settings, ...bytes }, findings };
  }

  #parse(): { readonly document: Document } | { readonly problem: SyntaxProblem } {
    if (this.#document !== undefined) return { document: this.#document };
    if (this.#bytes === undefined) return { problem: this.#failure! };
    this.parses++;
    if (looksCutOff(this.#bytes, this.#effective?.bytes)) {
      const message =
        "the file ends in the middle of a line that was longer before: it looks cut off";
      return {
        problem: problem("config/cut-off", [], message, "if it is meant, end it with a newline"),
      };
    }
    const decoded = decode(this.#bytes);
    if ("problem" in decoded) return decoded;
    const parsed = parse(decoded.text);
    if (!parsed.ok) return parsed;
    this.#document = parsed.document;
    return parsed;
  }

  /** Services are not emptied by a file that says nothing about them. */
  #checkGone(document: Document): Problem[] {
    const had = this.#effective?.services.length ?? this.#seed.length;
    if (Object.hasOwn(document, "services") || had === 0) return [];
    const message = `\`services\` is gone, which held ${had} service${had === 1 ? "" : "s"}`;
    return [problem("config/services-gone", [], message, KEEP_NONE)];
  }

  /** Services of the seed are ready but for their encoding. One that a rule refuses by now is left out, and said. */
  #takeSeed(): void {
    const { converter } = this.#context;
    const services: LoadedService[] = [];
    const findings: Finding[] = [];
    for (const service of this.#seed) {
      const loaded = loadService(service, { file: this.name, converter });
      if (!("problems" in loaded)) services.push(loaded);
      else findings.push(...loaded.problems.map((p) => this.#seedFinding(p, loaded.about.subject)));
    }
    this.#seedFindings = findings;
    this.#seed = [];
    this.#effective = { services };
  }

  #seedFinding(found: Problem | Finding, subject: string | undefined): Finding {
    const { path: _, ...finding } = toFinding(found, this.path, [], subject);
    return { ...finding, hint: "it was published before and is refused by this version" };
  }

  #finding(found: SyntaxProblem): Finding {
    const { path, ...finding } = toFinding(found, this.path, []);
    if (found.path.length > 0) return { ...finding, path: path! };
    const { line, column } = found; // what is said of the whole file has at most the parser's place
    const place = {
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    };
    return { ...finding, position: { file: this.path, ...place } };
  }
}

/** Whether a finding or problem is an error. */
export function isError({ severity }: { readonly severity: string }): boolean {
  return severity === "error";
}

function checkManifest(document: Document): Problem[] {
  if (!Object.hasOwn(document, "apiVersion") || !Object.hasOwn(document, "kind")) return [];
  const message = `an Istio manifest (${
    String(document.kind)
  }) is not supported yet by this version`;
  const hint = "write it as an item of `services:`, or take it out";
  return [problem("config/not-supported-yet", ["kind"], message, hint)];
}
