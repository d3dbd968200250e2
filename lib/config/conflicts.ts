/**
 * Conflicts between services of several files: which files cannot be in effect together, and what is
 * said about it at each place. Nothing is merged.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Service } from "../model/service.ts";
import type { Converter, ServiceConflict } from "./converter.ts";
import type { Path } from "./problem.ts";
import type { Content, SourceFile } from "./source_file.ts";

/** A file with the content that would be in effect. */
export interface Choice {
  readonly file: SourceFile;
  readonly content: Content;
  /** Whether the content is what the file holds now; else it is older, and indexes are no places in the file. */
  readonly current: boolean;
}

/** Files that cannot be in effect together, and what is to be said of it. */
export interface FileConflicts {
  readonly files: ReadonlySet<SourceFile>;
  readonly findings: readonly Finding[];
}

/** Conflicts said about at most; more help nobody. */
const MAX_FINDINGS = 200;

interface Place {
  readonly choice: Choice;
  readonly index: number;
  readonly service: Service;
}

/** Every conflict between the services of these files. */
export function findFileConflicts(
  choices: readonly Choice[],
  converter: Converter,
): FileConflicts {
  const places = choices.flatMap((choice) =>
    choice.content.services.map(({ service }, index): Place => ({ choice, index, service }))
  );
  const found = converter.conflicts(places.map(({ service }) => service));
  const files = new Set<SourceFile>();
  const findings: Finding[] = [];
  for (const conflict of withoutEchoes(found)) {
    const involved = conflict.services.map((index) => places[index]!);
    for (const place of involved) {
      files.add(place.choice.file);
      if (findings.length < MAX_FINDINGS) findings.push(describe(conflict, place, involved));
    }
  }
  return { files, findings };
}

/** One service written twice has its hosts twice as well: only the first is said. */
function withoutEchoes(conflicts: readonly ServiceConflict[]): readonly ServiceConflict[] {
  const said = new Set<string>();
  return conflicts.filter(({ services }) => {
    const key = services.join();
    if (said.has(key)) return false;
    said.add(key);
    return true;
  });
}

function describe(conflict: ServiceConflict, place: Place, involved: readonly Place[]): Finding {
  const { choice: { file, current }, index, service } = place;
  const others = involved.filter((other) => other !== place).map((other) => {
    const name = other.choice.file === file ? "this file" : other.choice.file.name;
    return other.choice.current
      ? `item ${other.index + 1} of ${name}`
      : `the last good content of ${name}`;
  });
  const shown = others.slice(0, 3).join(", ") + (others.length > 3 ? ", …" : "");
  return {
    severity: "error",
    rule: conflict.rule,
    message: `${conflict.message}; also ${shown}`,
    hint: "keep one, or give each a name and hosts of its own",
    subject: `${service.namespace}/${service.name}`,
    position: { file: file.path },
    ...(current ? { path: ["services", index, ...pathIn(service, conflict.what)] } : {}),
  };
}

/** The host or alias claimed, by its place in the service. */
function pathIn({ hosts, aliases }: Service, what: string): Path {
  for (const [key, list] of Object.entries({ hosts, aliases })) {
    const index = list.findIndex((item) => item.toLowerCase() === what.toLowerCase());
    if (index >= 0) return [key, index];
  }
  return [];
}
