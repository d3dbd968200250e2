/**
 * What the probe prints of a push.
 *
 * @module
 */
import type { ProbedPush } from "./probe_push.ts";
import { resourceLabel, resourceObject, resourceText, resourceYaml } from "./probe_resource.ts";
import type { ProbeFormat } from "./probe_flags.ts";
import { safeJson } from "./safe_json.ts";
import { duration, paint, type Style, visible } from "./terminal.ts";

/** A push as it is to be printed. */
export interface PrintedPush {
  readonly push: ProbedPush;
  /** Milliseconds since the probe began. */
  readonly after: number;
  /** Why it is refused, if it is. */
  readonly refused: string | undefined;
}

/** The push in this format, with a line end. What the server chose is made fit for a terminal. */
export function printPush(printed: PrintedPush, format: ProbeFormat, colours: boolean): string {
  switch (format) {
    case "text":
      return textOf(printed, colours);
    case "names":
      return namesOf(printed.push);
    case "yaml":
      return yamlOf(printed);
    case "json":
      return `${safeJson(jsonOf(printed))}\n`;
  }
}

function textOf({ push, after, refused }: PrintedPush, colours: boolean): string {
  const say = (text: string, style: Style) => paint({ text: visible(text), style }, colours);
  const head = [
    say(`+${duration(after)}`, "dim"),
    say(push.type, "bold"),
    countsOf(push),
    visible(`version=${push.version} nonce=${push.nonce}`),
    ...(refused === undefined ? [] : [say(`refused: ${refused}`, "warn")]),
  ].join("  ");
  const resources = push.resources.map((resource) => resourceText(resource, colours));
  const removed = push.removed.map((name) => `  ${say("-", "bad")} ${visible(name)}`);
  return `${[head, ...resources, ...removed].join("\n")}\n`;
}

function countsOf({ incremental, resources, removed }: ProbedPush): string {
  const count = `${resources.length} resource${resources.length === 1 ? "" : "s"}`;
  if (!incremental) return count;
  return `difference: ${count}${removed.length === 0 ? "" : `, ${removed.length} removed`}`;
}

/** `Kind/namespace/name`, with a minus before what is gone. */
function namesOf({ type, resources, removed }: ProbedPush): string {
  const lines = [
    ...resources.map(({ name }) => resourceLabel(type, name)),
    ...removed.map((name) => `-${resourceLabel(type, name)}`),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

function yamlOf({ push, refused }: PrintedPush): string {
  const { type, version, nonce, removed, resources } = push;
  const comments = [
    `# ${type}, ${countsOf(push)}, version ${version}, nonce ${nonce}`,
    ...(refused === undefined ? [] : [`# refused: ${refused}`]),
    ...removed.map((name) => `# removed: ${name}`),
  ];
  return [...comments.map((line) => `${visible(line)}\n`), ...resources.map(resourceYaml)].join("");
}

function jsonOf({ push, after, refused }: PrintedPush) {
  const { resources, ...head } = push;
  return {
    ...head,
    afterMs: Math.round(after),
    ...(refused === undefined ? {} : { refused }),
    resources: resources.map((one) => ({
      name: one.name,
      ...(one.version === "" ? {} : { version: one.version }),
      object: resourceObject(one),
    })),
  };
}
