/**
 * What is in effect: of each file either what it holds now or its last good content. A file is all or
 * nothing; settings, defaults and conflicts tie files together, so the decision is made in rounds, each
 * of which sends at least one more file back to its last good content, until nothing is wrong any more.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";
import { type Choice, findFileConflicts } from "./conflicts.ts";
import type { Converter } from "./converter.ts";
import type { FileSet } from "./file_set.ts";
import { findIncluded, type Included, type Root } from "./files.ts";
import { type Problem, toFinding } from "./problem.ts";
import { SETTING_KEYS, type SettingsInput } from "./schema.ts";
import { normaliseSettings } from "./settings.ts";
import { includedFiles } from "./settings_include.ts";
import { checkPeerPlaces } from "./settings_peers.ts";
import { checkReceivePlace } from "./settings_receive.ts";
import type { SourceFile } from "./source_file.ts";

/** What a decision rests on. */
export interface Grounds {
  readonly root: Root;
  readonly files: FileSet;
  readonly converter: Converter;
  readonly hostName: string;
  /** Bytes that are read of each of `--config`'s own files. */
  readonly mainLimit: number;
  /** Settings last published, for `--config` files that are broken from the start. */
  readonly seed?: Settings;
}

/** What is in effect, and what is wrong with the rest. */
export interface Decision {
  /** Absent where no settings could be made out. */
  readonly settings?: Settings;
  readonly choices: readonly Choice[];
  /** Everything that is to be said of the files and between them. */
  readonly findings: readonly Finding[];
  /** Files that are there, or may only be out of reach. */
  readonly present: readonly SourceFile[];
  /** `include`, and which files it came to. */
  readonly include: readonly string[];
  readonly included: Included;
  /** Whether settings of the seed are still in use. */
  readonly usesSeed: boolean;
}

/** All files together may be this many times as large as one. */
const SIZE_FACTOR = 4;

/** Decides what is in effect. */
export function decide(grounds: Grounds): Decision {
  return new Rounds(grounds).run();
}

/** One round's view: settings, and the files that follow from them. */
interface Round {
  readonly settings: Settings;
  readonly included: Included;
  readonly present: readonly SourceFile[];
  readonly held: readonly SourceFile[];
  readonly usesSeed: boolean;
}

class Rounds {
  readonly #grounds: Grounds;
  readonly #main: readonly SourceFile[];
  /** Files whose present content is not used. */
  readonly #reverted = new Set<SourceFile>();
  /** Files of which even the last good content cannot be used. */
  readonly #dropped = new Set<SourceFile>();
  readonly #notes = new Map<string, Finding>();

  constructor(grounds: Grounds) {
    this.#grounds = grounds;
    const { root, files, mainLimit } = grounds;
    const options = { main: true, limit: mainLimit, total: SIZE_FACTOR * mainLimit };
    this.#main = root.files.map((file) => files.take(file, options));
  }

  run(): Decision {
    for (;;) {
      const round = this.#openRound();
      if (round === undefined) return this.#undecided();
      if (round === "again") continue;
      if (this.#revertBroken(round)) continue;
      const choices = this.#choices(round);
      if (this.#settleConflicts(choices)) continue;
      return this.#decided(round, choices);
    }
  }

  /** Settings of this round; undefined where there are none to be had. */
  #openRound(): Round | "again" | undefined {
    const { root, files, hostName, seed } = this.#grounds;
    for (const file of this.#main) if (!file.head().ok) this.#reverted.add(file);
    if (this.#settleSettings()) return "again";
    const inputs = this.#main.map((file) => this.#settingsOf(file));
    const usesSeed = seed !== undefined && inputs.includes(undefined);
    if (!usesSeed && inputs.every((input) => input === undefined)) return undefined;
    const input: SettingsInput = Object.assign({}, ...inputs);
    const context = usesSeed ? { hostName, fallback: seed } : { hostName };
    const settings = normaliseSettings(input, context);
    const included = findIncluded(settings.include, root);
    const limit = settings.limits.file;
    const total = SIZE_FACTOR * Math.max(limit, this.#grounds.mainLimit);
    const options = { main: false, limit, total };
    const taken = included.files.map((file) => files.take(file, options));
    return {
      settings,
      included,
      present: [...this.#main, ...taken],
      held: files.held(root.folder, included.mayBeOutOfReach),
      usesSeed,
    };
  }

  /** The settings that count of a `--config` file; undefined where they are not known. */
  #settingsOf(file: SourceFile): SettingsInput | undefined {
    return this.#reverted.has(file) ? file.effective?.settings : file.head().settings;
  }

  /** A setting stands in one file only. Gives whether a file was sent back for it. */
  #settleSettings(): boolean {
    let changed = false;
    for (const key of SETTING_KEYS) {
      const owners = this.#main.filter((file) => this.#settingsOf(file)?.[key] !== undefined);
      if (owners.length < 2) continue;
      for (const file of owners) {
        const others = owners.filter((other) => other !== file).map(({ name }) => name).join(", ");
        this.#note({
          severity: "error",
          rule: "config/duplicate-setting",
          message: `\`${key}\` stands in ${others} as well`,
          hint: "keep one",
          position: { file: file.path },
          ...(this.#reverted.has(file) ? {} : { path: [key] }),
        });
        if (!this.#reverted.has(file)) {
          this.#reverted.add(file);
          changed = true;
        }
      }
    }
    return changed;
  }

  /** Gives whether a file was sent back whose settings other files depend on. */
  #revertBroken({ present, settings }: Round): boolean {
    let again = false;
    for (const file of present) {
      if (this.#reverted.has(file) || file.body(settings.defaults).content !== undefined) continue;
      this.#reverted.add(file);
      if (file.main) again = true;
    }
    return again;
  }

  #choices({ present, held, settings }: Round): Choice[] {
    const choices: Choice[] = [];
    for (const file of [...present, ...held]) {
      if (this.#dropped.has(file)) continue;
      const current = !this.#reverted.has(file) && !held.includes(file);
      const content = current ? file.body(settings.defaults).content : file.effective;
      if (content !== undefined) choices.push({ file, content, current });
    }
    return choices;
  }

  /** Gives whether a file was sent back, or dropped, for a conflict. */
  #settleConflicts(choices: readonly Choice[]): boolean {
    const { files, findings } = findFileConflicts(choices, this.#grounds.converter);
    if (files.size === 0) return false;
    for (const finding of findings) this.#note(finding);
    const involved = choices.filter(({ file }) => files.has(file));
    const newer = involved.filter(({ file, content, current }) => current && !file.holds(content));
    for (const { file } of newer) this.#reverted.add(file);
    // Contents that were in effect together have no conflict, but a seed may hold anything.
    if (newer.length === 0) this.#dropped.add(involved.at(-1)!.file);
    return true;
  }

  #decided(round: Round, choices: readonly Choice[]): Decision {
    const { settings, included, present, held, usesSeed } = round;
    return {
      settings,
      choices,
      findings: [
        ...[...present, ...held].flatMap(({ findings }) => findings),
        ...this.#includeFindings(included),
        ...this.#findings("peers", checkPeerPlaces(settings)),
        ...this.#findings("receive", checkReceivePlace(settings)),
        ...this.#notes.values(),
      ],
      present: [...present, ...held],
      include: settings.include,
      included,
      usesSeed,
    };
  }

  #undecided(): Decision {
    return {
      choices: [],
      findings: [...this.#main.flatMap(({ findings }) => findings), ...this.#notes.values()],
      present: this.#main,
      include: [],
      included: findIncluded([], this.#grounds.root),
      usesSeed: false,
    };
  }

  /** Places among the files of `include` become places among all that it names. */
  #includeFindings({ problems }: Included): Finding[] {
    const owner = this.#ownerOf("include");
    const files = includedFiles(owner === undefined ? [] : this.#settingsOf(owner)!.include!);
    const found = problems.map((problem) => {
      const [key, position, ...rest] = problem.path;
      const place = typeof position === "number" ? files[position]?.index : undefined;
      return place === undefined ? problem : { ...problem, path: [key!, place, ...rest] };
    });
    return this.#findings("include", found);
  }

  /** What is said of a setting in the light of all others; it does not send its file back. */
  #findings(key: keyof SettingsInput, problems: readonly Problem[]): Finding[] {
    const owner = this.#ownerOf(key);
    const isAsWritten = owner !== undefined && !this.#reverted.has(owner);
    return problems.map((found) => {
      const finding = toFinding(found, (owner ?? this.#main[0]!).path, []);
      if (isAsWritten) return finding;
      const { path: _, ...rest } = finding;
      return rest;
    });
  }

  /** The file that a setting stands in; undefined where it comes from elsewhere. */
  #ownerOf(key: keyof SettingsInput): SourceFile | undefined {
    return this.#main.find((file) => this.#settingsOf(file)?.[key] !== undefined);
  }

  #note(finding: Finding): void {
    const key = JSON.stringify([
      finding.position?.file,
      finding.path,
      finding.rule,
      finding.subject,
    ]);
    if (!this.#notes.has(key)) this.#notes.set(key, finding);
  }
}
