/**
 * `pinnace validate`: what is wrong with a configuration and with the files that it names, by file and
 * line.
 *
 * @module
 */
import { resolve } from "node:path";
import { EXIT } from "./exit.ts";
import { describeElsewhere, describeFindings, print, readConfig } from "./read_config.ts";
import { fileFindings } from "./file_findings.ts";
import { folderOf } from "./store_place.ts";

/** Prints the findings; 1 if any is an error, else 0. */
export async function validate({ config }: { readonly config: string }): Promise<number> {
  const read = readConfig(config);
  const { result, written } = read;
  const findings = read.and(await fileFindings(written, folderOf(resolve(config))));
  await print(describeFindings(findings), Deno.stdout);
  const { files, services } = result.stats;
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = `${count(errors, "error")}, ${count(findings.length - errors, "warning")}`;
  const what = `${count(services, "service")} in ${count(files, "file")}`;
  await print(`${what}: ${findings.length === 0 ? "fine" : counts}\n`, Deno.stderr);
  await print(describeElsewhere(read), Deno.stderr);
  return errors === 0 ? EXIT.ok : EXIT.failure;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
