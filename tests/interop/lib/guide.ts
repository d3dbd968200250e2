/**
 * What docs/ shows: sections and their code, for tests that run it as it stands.
 *
 * @module
 */

/** A section of a guide, by the file's name in docs/ and the heading of the second level. */
export async function section(file: string, title: string): Promise<string> {
  const guide = await Deno.readTextFile(new URL(`../../../docs/${file}`, import.meta.url));
  const text = guide.split(`\n## ${title}\n`)[1];
  if (text === undefined) throw new Error(`docs/${file} has no section "${title}"`);
  return text.split("\n## ")[0]!;
}

/** The code blocks of a text that are in a language. */
export function blocks(text: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...text.matchAll(fenced)].map(([, body]) => body!);
}
