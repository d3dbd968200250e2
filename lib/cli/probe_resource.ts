/**
 * A resource in each form in which it is printed. What a server chose is made fit for a terminal.
 *
 * @module
 */
import { dump } from "js-yaml";
import { renderResource } from "../convert/render.ts";
import { kindByCollection, kindByTypeUrl } from "../model/kind.ts";
import { xdsTypeByUrl } from "../model/xds_type.ts";
import { mcpResourceCodec } from "../wire/messages.ts";
import { anyJson } from "../wire/proto_json.ts";
import { boundOf, type ProbedResource } from "./probe_push.ts";
import { summarise } from "./probe_summary.ts";
import { paint, type Style, visible } from "./terminal.ts";

/** Lines without an end: name and version, and of xDS resources what they say in short. */
export function resourceText({ name, version, content }: ProbedResource, colours: boolean): string {
  const say = (text: string, style: Style) => paint({ text: visible(text), style }, colours);
  const { text, lines } = content.kind === "any" ? summarise(content.any) : { text: "", lines: [] };
  const head = [
    `  ${say("+", "good")} ${visible(nameOf(name))}`,
    ...(version === "" ? [] : [say(version, "dim")]),
    ...(text === "" ? [] : [` ${visible(text)}`]),
  ];
  return [head.join(" "), ...lines.map((line) => `      ${visible(line)}`)].join("\n");
}

/** `Kind/namespace/name`, of a collection or type URL; as the server chose it. */
export function resourceLabel(type: string, name: string): string {
  const kind = kindByCollection(type) ?? kindByTypeUrl(type);
  return `${kind?.kind ?? xdsTypeByUrl(type)?.name ?? type}/${nameOf(name)}`;
}

/** A YAML document, with its `---`. */
export function resourceYaml(resource: ProbedResource): string {
  return `---\n${escapedYaml(dump(resourceObject(resource), { lineWidth: 100 }))}`;
}

/** What the writer of YAML leaves as it is and a terminal would act on, as YAML's own escapes. */
function escapedYaml(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** The resource as people write it; what is of no type that we know by its type and size. */
export function resourceObject({ name, version, content }: ProbedResource): unknown {
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
