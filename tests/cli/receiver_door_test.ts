import { assertEquals } from "@std/assert";
import { ServingState } from "../../lib/transport/serving_state.ts";
import { ReceiverDoor } from "../../lib/cli/receiver_door.ts";
import type { ReceiveSettings, Settings } from "../../lib/model/settings.ts";
import type { SourceRegistry } from "../../lib/receive/registry.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { TempFolder } from "../config/testdata/temp_folder.ts";
import { freePorts } from "../interop/lib/ports.ts";
import { until } from "../interop/lib/wait.ts";
import { judge, RawSource } from "../transport/receiving_bench.ts";
import { now } from "../transport/sockets.ts";

/** Lets everyone in, and keeps nothing. */
const everyone: SourceRegistry = {
  connect: ({ name, namespaces = [] }) => ({
    ...{ name, namespaces, cautious: false },
    held: () => ({}),
    take: () => Promise.resolve({ ok: true }),
    refused: () => {},
    [Symbol.dispose]: () => {},
  }),
};

Deno.test("receiver door: who came with a token that is taken away is put out, and does not come in again", async () => {
  using folder = new TempFolder();
  folder.write("a", "alpha");
  folder.write("b", "beta");
  const problems: string[] = [];
  using sender = new Sender({ now });
  await using door = new ReceiverDoor({
    state: new ServingState(),
    hooks: {},
    folder: folder.path,
    ports: {
      ...{ tlsProblem() {}, rotated() {}, exposed() {}, dead() {}, revived() {} },
      ...{ waits() {}, opened() {} },
    },
    registry: everyone,
    judge,
    sender,
    observer: { opened() {}, push() {}, acked() {}, nacked() {}, closed() {}, denied() {} },
    tokenProblem: (source) => void problems.push(source),
  });
  const [port] = freePorts(1);
  const receive: ReceiveSettings = {
    ...{ address: `127.0.0.1:${port}`, insecure: false, from: [], merge: "refuse" },
    ...{ tokens: { "edge-a": "a", "edge-b": "b" }, collections: [] },
  };
  const settings = { instance: "hub", limits: { message: 1_000_000 }, receive };
  await door.open(settings as unknown as Settings);
  const dial = (token: string) => new RawSource(port!, { authorization: `Bearer ${token}` });
  await using a = dial("alpha");
  await using b = dial("beta");
  await until("both are in", () => door.streams.length === 2);
  Deno.removeSync(folder.at("a"));
  await until("one is put out", () => a.call.status !== undefined);
  const details = "the token of edge-a was replaced or withdrawn";
  assertEquals(a.call.status, { code: 16, details });
  assertEquals([b.call.status, door.streams.map(({ source }) => source)], [undefined, ["edge-b"]]);
  await using again = dial("alpha");
  assertEquals((await again.call.ended()).code, 16);
  assertEquals(problems.includes("edge-a"), true);
});
