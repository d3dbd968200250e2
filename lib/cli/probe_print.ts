/**
 * What the probe prints of a push.
 *
 * @module
 */
import { dump } from "js-yaml";
import { renderResource } from "../convert/render.ts";
import { kindByCollection, kindByTypeUrl } from "../model/kind.ts";
import { xdsTypeByUrl } from "../model/xds_type.ts";
import { mcpResourceCodec } from "../wire/messages.ts";
import { anyJson } from "../wire/proto_json.ts";
import { boundOf, type ProbedPush, type ProbedResource } from "./probe_push.ts";
import { summarise } from "./probe_summary.ts";
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

/** Name and version, and of xDS resources what they say in short. */
function resourceText({ name, version, content }: ProbedResource, colours: boolean): string {
  const say = (text: string, style: Style) => paint({ text: visible(text), style }, colours);
  const { text, lines } = content.kind === "any" ? summarise(content.any) : { text: "", lines: [] };
  const head = [
    `  ${say("+", "good")} ${visible(nameOf(name))}`,
    ...(version === "" ? [] : [say(version, "dim")]),
    ...(text === "" ? [] : [` ${visible(text)}`]),
  ];
  return [head.join(" "), ...lines.map((line) => `      ${visible(line)}`)].join("\n");
}

function countsOf({ incremental, resources, removed }: ProbedPush): string {
  const count = `${resources.length} resource${resources.length === 1 ? "" : "s"}`;
  if (!incremental) return count;
  return `difference: ${count}${removed.length === 0 ? "" : `, ${removed.length} removed`}`;
}

/** `Kind/namespace/name`, with a minus before what is gone. */
function namesOf({ type, resources, removed }: ProbedPush): string {
  const kind = (kindByCollection(type) ?? kindByTypeUrl(type))?.kind ?? xdsTypeByUrl(type)?.name ??
    type;
  const lines = [
    ...resources.map(({ name }) => `${kind}/${nameOf(name)}`),
    ...removed.map((name) => `-${kind}/${name}`),
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
  const documents = resources.map((resource) => {
    const text = dump(objectOf(resource), { lineWidth: 100 });
    return `---\n${escapedYaml(text)}`;
  });
  return [...comments.map((line) => `${visible(line)}\n`), ...documents].join("");
}

/** What the writer of YAML leaves as it is and a terminal would act on, as YAML's own escapes. */
function escapedYaml(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
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
      object: objectOf(one),
    })),
  };
}

/** The resource as people write it; what is of no type that we know by its type and size. */
function objectOf({ name, version, content }: ProbedResource): unknown {
  if (content.kind === "any") return anyJson(content.any, boundOf(content.any.value));
  const { resource } = content;
  try {
    return renderResource({ name, version, bytes: mcpResourceCodec.encode(resource) });
  } catch (error) {
    const { body } = resource;
    const why = error instanceof Error ? error.message : String(error);
    return { ...unknown(body?.typeUrl ?? "", body?.value ?? new Uint8Array()), name, error: why };
  }
}

function unknown(type: string, value: Uint8Array) {
  return { "@type": type, bytes: value.length };
}

function nameOf(name: string): string {
  return name === "" ? "(no name)" : name;
}
