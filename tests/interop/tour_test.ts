/** The README's first tour: every command as it stands there, with a whole istiod as the last station. */
import { assert, assertEquals } from "@std/assert";
import { load } from "js-yaml";
import { interopTest } from "./lib/binaries.ts";
import { Istiod } from "./lib/istiod.ts";
import { Terminals } from "./lib/terminals.ts";
import { type Block, readTour } from "./lib/tour.ts";

/** What `probe --format names` prints of the ServiceEntries that istiod is to hold. */
const ENTRY = /^ServiceEntry\/(\S+)$/;

/** A `meshConfig` as the README writes it. */
interface MeshConfig {
  readonly meshConfig: { readonly configSources: readonly { readonly address: string }[] };
}

/** The source that the mesh's settings name; they have to keep the cluster's own, too. */
function sourceOf(yaml: string): string {
  const { meshConfig: { configSources } } = load(yaml) as MeshConfig;
  const addresses = configSources.map(({ address }) => address);
  assertEquals(addresses.length, 2);
  assert(addresses.includes("k8s://"), "else istiod would lose what its cluster has");
  return addresses.find((address) => address.startsWith("xds://"))!.slice("xds://".length);
}

/** Names of the ServiceEntries in what the README shows; undefined where it shows something else. */
function entriesIn(shown: readonly string[]): string[] | undefined {
  const names = shown.flatMap((line) => ENTRY.exec(line)?.[1] ?? []);
  return names.length === shown.length ? names.sort() : undefined;
}

async function holds(istiod: Istiod, names: readonly string[]): Promise<void> {
  await istiod.process.expect(`it holds exactly ${names.join(" ")}`, async () => {
    assertEquals([...(await istiod.objects()).keys()].sort(), names);
    return true;
  });
}

interopTest("tour: every command of the README does what it says there", ["istiod"], async () => {
  const tour = await readTour();
  await using terminals = await Terminals.open();
  await using started = new AsyncDisposableStack();
  let source: string | undefined;
  let istiod: Istiod | undefined;
  const seen = { commands: 0, outputs: 0, istiods: 0 };
  // A cluster of its own each time: one that starts is served what the receiver has then.
  const start = async () => {
    istiod = started.use(await Istiod.start(source!));
    seen.istiods++;
  };
  let last: Block | undefined;
  for (const block of tour) {
    if (block.kind === "commands") {
      seen.commands += await terminals.run(block);
      if (block.stops && block.serves && source !== undefined) await start();
    } else if (block.kind === "settings") {
      source = sourceOf(block.text);
      await start();
      await holds(istiod!, ["shop/orders"]);
    } else {
      assertEquals(
        last?.kind,
        "commands",
        "what is shown stands behind the command that prints it",
      );
      await terminals.expect(block.lines);
      seen.outputs++;
      const entries = entriesIn(block.lines);
      if (entries !== undefined && istiod !== undefined) await holds(istiod, entries);
    }
    last = block;
  }
  assert(seen.commands >= 15 && seen.outputs >= 7, "the tour was found");
  assertEquals(
    seen.istiods,
    2,
    "one that sees every change, one that starts while the edge is away",
  );
});
