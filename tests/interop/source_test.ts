/** Istio's own source library, unchanged, dials our receiver; what it sees is what its own sink would do. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { edge, receiving } from "./lib/edges.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { SERVICE_ENTRIES, simple } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";
import { Source } from "./lib/source.ts";

/** Waits until a sink that dials the receiver holds exactly these. */
async function serves(sink: Sink, names: readonly string[]): Promise<void> {
  await sink.holds(names);
}

for (const incremental of [false, true]) {
  interopTest(
    `receiver: Istio's own source, ${
      incremental ? "incremental" : "full"
    }: taken, changed, refused with a reason, kept while away`,
    ["mcp-source", "mcp-sink-client"],
    async () => {
      const { config, dialled } = receiving();
      await using pinnace = await Pinnace.start(config);
      await using sink = Sink.dialling(pinnace.address);
      {
        await using source = Source.dialling(dialled, { incremental });
        await source.publish({ "edge/a": "10.0.0.1", "edge/b": "10.0.0.2" });
        await serves(sink, ["edge/a", "edge/b"]);
        await source.publish({ "edge/a": "10.0.0.1", "edge/c": "10.0.0.3" });
        await serves(sink, ["edge/a", "edge/c"]);

        // What Istio itself would refuse is refused whole, and nothing that was good goes.
        await source.publish({ "edge/a": "", "edge/c": "10.0.0.4" });
        await source.process.expect("the refusal arrives", () => source.answers().nacks > 0);
        const status = await pinnace.status() as {
          sources: { name: string; refused?: { message: string } }[];
        };
        const refused = status.sources[0]?.refused;
        assert(/edge\/a/.test(refused?.message ?? ""), refused?.message);
        assert(/istio\//.test(refused?.message ?? ""), "the rule is named");
        await serves(sink, ["edge/a", "edge/c"]);
        await source.publish({ "edge/a": "10.0.0.5", "edge/c": "10.0.0.4" });
        await sink.process.expect("what is mended arrives", () => {
          const [last] = sink.changes(SERVICE_ENTRIES).slice(-1);
          return JSON.stringify(last?.resources ?? []).includes("10.0.0.5");
        });
        assertEquals(source.answers().acks > 0, true);
      }
      await pinnace.process.expect("its source is away", async () => {
        const { sources } = await pinnace.status() as { sources: { state: string }[] };
        return sources[0]?.state === "stale";
      });
      await pinnace.kill();
      await pinnace.run();
      await using later = Sink.dialling(pinnace.address);
      await serves(later, ["edge/a", "edge/c"]);
      // It comes back with one more: nothing else moves.
      await using back = Source.dialling(dialled, { incremental });
      await back.publish({ "edge/a": "10.0.0.5", "edge/c": "10.0.0.4", "edge/d": "10.0.0.6" });
      await serves(later, ["edge/a", "edge/c", "edge/d"]);
    },
  );
}

interopTest(
  "dial-out: Istio's own sink and our receiver are dialled alike and hold the same, byte for byte",
  ["mcp-sink-server", "mcp-sink-client"],
  async () => {
    const [port] = freePorts(1);
    const theirs = `127.0.0.1:${port}`;
    const { config, dialled } = receiving();
    await using receiver = await Pinnace.start(config);
    await using sink = await Sink.listening(theirs, { incremental: true });
    const services = [simple("billing"), simple("ledger")];
    const both = (services: Parameters<typeof edge>[2]) => ({
      ...edge("edge", dialled, services),
      sinks: [{ name: "ours", address: dialled }, { name: "theirs", address: theirs }],
    });
    await using pinnace = await Pinnace.start(both(services));
    // What the receiver took, as a sink of the same library sees it.
    await using downstream = Sink.dialling(receiver.address, { incremental: true });
    const names = ["edge/billing", "edge/ledger"];
    assertEquals(await downstream.holds(names), await sink.holds(names), "versions too");
    await pinnace.write(both([simple("billing", "10.1.0.9"), simple("stock")]));
    const after = ["edge/billing", "edge/stock"];
    assertEquals(await downstream.holds(after), await sink.holds(after));
    const bodies = (held: Sink) =>
      held.changes(SERVICE_ENTRIES).flatMap(({ resources }) => resources)
        .map(({ name, version, metadata, body }) =>
          JSON.stringify({ name, version, metadata, body })
        );
    assertEquals([...new Set(bodies(downstream))].sort(), [...new Set(bodies(sink))].sort());
  },
);
