/**
 * `deno task interop [--build-only] [FILE…] [options of deno test]`: builds the peers, then tests the
 * running program against them. FILEs are relative to this folder; none: all of them.
 *
 * Where a peer cannot be built, its tests are ignored and that is said; where `CI` is set, the task fails.
 *
 * @module
 */
import { buildPeers } from "./lib/build.ts";

const say = (line: string) => Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));

const failed = (await buildPeers(say)).filter((result) => result.kind === "failed");
for (const [reason, results] of Map.groupBy(failed, (result) => result.reason)) {
  const names = results.map(({ peer }) => peer.binary).join(", ");
  say(`cannot build ${names}: ${reason}`);
  say("tests against a peer that was never built are skipped");
}
if (failed.length > 0 && (Deno.env.get("CI") ?? "") !== "") {
  say("CI is set, so nothing may be skipped");
  Deno.exit(1);
}
if (Deno.args.includes("--build-only")) Deno.exit(failed.length === 0 ? 0 : 1);

const options = Deno.args.filter((arg) => arg.startsWith("-"));
const files = Deno.args.filter((arg) => !arg.startsWith("-"));
const folder = new URL(".", import.meta.url).pathname;
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "--allow-all",
    ...options,
    ...(files.length === 0 ? [folder] : files.map((file) => folder + file)),
  ],
  stdin: "null",
}).spawn().status;
Deno.exit(code);
