import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { kindByName } from "../../lib/model/kind.ts";
import { McpSinkMachine } from "../../lib/protocol/mcp_sink.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import type { Push } from "../../lib/protocol/stream.ts";
import { requestResourcesCodec } from "../../lib/wire/messages.ts";
import { type Contents, snapshotOf } from "./fixtures.ts";
import { readSinkTranscripts, runSinkTranscript } from "./sink_transcript.ts";

const FILE = new URL("../testdata/sink_transcripts/mcp_sink.yaml", import.meta.url);

for (const transcript of readSinkTranscripts(Deno.readTextFileSync(FILE))) {
  Deno.test(`mcp sink: ${transcript.title}`, () => runSinkTranscript(transcript));
}

const plain = { nodeId: "r", incremental: true, initial: () => ({}) };
const head = (type: string, nonce: string) => ({ type, nonce, version: "", incremental: false });

Deno.test("mcp sink: what is held is left out where it does not fit into 4 MiB, and all is asked for", () => {
  const held = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`shop/service-${i}`, "v".repeat(64)]),
    );
  for (const [count, fits] of [[30_000, true], [60_000, false]] as const) {
    const machine = new McpSinkMachine({
      ...plain,
      collections: ["A"],
      initial: () => held(count),
    });
    const request = machine.next()!;
    assertEquals(request.incremental, fits);
    assertEquals(Object.keys(request.initialResourceVersions).length, fits ? count : 0);
    assert(requestResourcesCodec.encode(request).length < 4 * 1024 * 1024);
  }
});

Deno.test("mcp sink: what is held is asked when the request is written, not before", () => {
  let asked = 0;
  const initial = () => ({ "shop/a": String(++asked) });
  const machine = new McpSinkMachine({ ...plain, collections: ["A", "B"], initial });
  assertEquals(asked, 0);
  assertEquals(machine.next()!.initialResourceVersions, { "shop/a": "1" });
  assertEquals(asked, 1);
});

Deno.test("mcp sink: declined messages whose answers are not read are bounded; read ones are not counted", () => {
  const machine = new McpSinkMachine({ ...plain, collections: [] });
  for (let i = 0; i < 100; i++) {
    assertEquals(machine.receive(head("$triggerCollection", ""), 0).kind, "trigger");
    assertEquals(machine.next()!.errorDetail!.code, 12);
  }
  for (let i = 0; i < 16; i++) assertEquals(machine.receive(head("X", `${i}`), 0).kind, "unasked");
  const last = machine.receive(head("X", "16"), 0);
  assert(last.kind === "error");
  assertEquals(last.code, "RESOURCE_EXHAUSTED");
});

Deno.test("mcp sink: names and nonces of any length are not kept", () => {
  const machine = new McpSinkMachine({ ...plain, collections: ["A"] });
  machine.next();
  for (const wrong of [head("x".repeat(1001), ""), head("A", "n".repeat(1001))]) {
    const received = machine.receive(wrong, 0);
    assert(received.kind === "error");
    assertEquals(received.code, "INVALID_ARGUMENT");
  }
  assertEquals(machine.next(), undefined);
});

Deno.test("mcp sink: whatever a source sends, it is answered or ends the stream, within bounds", () => {
  const type = fc.oneof(fc.constantFrom("A", "B", "", "$triggerCollection"), fc.string());
  const message = fc.record({
    type,
    nonce: fc.oneof(fc.constantFrom("", "1"), fc.string()),
    version: fc.string(),
    incremental: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60 }), fc.boolean(), (messages, cautious) => {
      const machine = new McpSinkMachine({ ...plain, collections: ["A", "B"], cautious });
      let answers = 0;
      for (const one of messages) {
        const received = machine.receive(one, 0);
        if (received.kind === "error") break;
        answers++;
      }
      assert(answers <= 4 + 4 + 16, "what waits is bounded");
      for (const { collection, unanswered } of machine.status()) {
        const nonces = messages.filter((m) => m.type === collection).slice(0, unanswered);
        for (const { nonce } of nonces) machine.settle(collection, nonce);
      }
      machine.goOn();
      let written = 0;
      for (let r = machine.next(); r !== undefined; r = machine.next()) {
        requestResourcesCodec.encode(r);
        machine.goOn();
        written++;
      }
      assertEquals(written, 2 + answers); // both are asked for
    }),
  );
});

Deno.test("mcp sink: settling what is not unsettled is a mistake of the caller", () => {
  const machine = new McpSinkMachine({ ...plain, collections: ["A"] });
  machine.next();
  assertThrows(() => machine.settle("A", "1"), TypeError, 'no push of "A" with nonce "1"');
  assertThrows(() => machine.settle("B", "1"), TypeError);
  machine.receive(head("A", "1"), 0);
  machine.settle("A", "1");
  assertThrows(() => machine.settle("A", "1"), TypeError);
});

Deno.test("mcp sink: the time of the last push is the caller's", () => {
  const machine = new McpSinkMachine({ ...plain, collections: ["A"] });
  machine.next();
  assertEquals(machine.status()[0]!.lastPushAt, undefined);
  machine.receive(head("A", "1"), 1234);
  assertEquals(machine.status()[0]!.lastPushAt, 1234);
});

Deno.test("mcp sink: whatever the order of settling, each push is answered once, in order of its collection", () => {
  const pushes = fc.array(
    fc.record({ of: fc.constantFrom("A", "B", "C"), ok: fc.boolean(), settleFirst: fc.nat(3) }),
    { maxLength: 40 },
  );
  fc.assert(fc.property(pushes, fc.infiniteStream(fc.nat()), (steps, random) => {
    const machine = new McpSinkMachine({ ...plain, collections: ["A", "B", "C"] });
    for (let i = 0; i < 3; i++) machine.next();
    const expected: Record<string, string[]> = { A: [], B: [], C: [] };
    const answered: Record<string, string[]> = { A: [], B: [], C: [] };
    const unsettled: { of: string; nonce: string; ok: boolean }[] = [];
    const settleOne = () => {
      const [one] = unsettled.splice(random.next().value! % unsettled.length, 1);
      const error = { code: 3, message: "no", details: [] };
      machine.settle(one!.of, one!.nonce, one!.ok ? undefined : error);
    };
    const read = () => {
      for (let r = machine.next(); r !== undefined; r = machine.next()) {
        answered[r.collection]!.push(
          `${r.responseNonce}${r.errorDetail === undefined ? "+" : "-"}`,
        );
      }
    };
    steps.forEach(({ of, ok, settleFirst }, index) => {
      for (let i = 0; i < settleFirst && unsettled.length > 0; i++) settleOne();
      if (machine.status().find((s) => s.collection === of)!.unanswered === 4) {
        while (unsettled.length > 0) settleOne();
      }
      assertEquals(machine.receive(head(of, `${index}`), index).kind, "push");
      unsettled.push({ of, nonce: `${index}`, ok });
      expected[of]!.push(`${index}${ok ? "+" : "-"}`);
      if (index % 2 === 0) read();
    });
    while (unsettled.length > 0) settleOne();
    read();
    assertEquals(answered, expected);
    assert(machine.status().every(({ unanswered }) => unanswered === 0));
  }));
});

const SERVICE_ENTRY = kindByName("ServiceEntry")!.collection;
const contents = fc.dictionary(
  fc.constantFrom("shop/a", "shop/b", "shop/c", "shop/d"),
  fc.constantFrom("1", "2", "3"),
) as fc.Arbitrary<Contents>;

Deno.test("mcp sink: with our source it ends up with the same set, over changes, refusals and reconnects", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("change" as const), contents }),
    fc.record({ kind: fc.constant("reconnect" as const), resumes: fc.boolean() }),
    fc.record({ kind: fc.constant("refuse" as const), contents }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
    const world = new World();
    world.change({ "shop/a": "0" });
    for (const one of steps) {
      if (one.kind === "change") world.change(one.contents);
      else if (one.kind === "reconnect") world.reconnect(one.resumes);
      else world.refuse(one.contents);
    }
    world.reconnect(true); // a source tries again then what was refused
    assertEquals(world.held, world.published);
  }));
});

/** Our source and our sink, joined without a transport. */
class World {
  held: Record<string, string> = {};
  published: Contents = {};
  #streams = 0;
  #snapshot = snapshotOf({});
  #source!: McpSourceMachine;
  #sink!: McpSinkMachine;

  constructor() {
    this.reconnect(true);
  }

  change(contents: Contents): void {
    this.published = contents;
    this.#snapshot = snapshotOf({ ServiceEntry: contents }, this.#snapshot);
    this.#source.retarget(this.#snapshot);
    this.#talk(true);
  }

  refuse(contents: Contents): void {
    this.published = contents;
    this.#snapshot = snapshotOf({ ServiceEntry: contents }, this.#snapshot);
    this.#source.retarget(this.#snapshot);
    this.#talk(false);
  }

  reconnect(resumes: boolean): void {
    const prefix = `${++this.#streams}-`;
    this.#source = new McpSourceMachine({
      prefix,
      resolver: collectionResolver({ unknownCollection: "empty" }),
      dialOut: true,
    });
    this.#source.retarget(this.#snapshot);
    this.#sink = new McpSinkMachine({
      ...plain,
      collections: [SERVICE_ENTRY],
      initial: () => this.held,
      resumes,
    });
    this.#talk(true);
  }

  #talk(accept: boolean): void {
    for (let rounds = 0; rounds < 20; rounds++) {
      const request = this.#sink.next();
      if (request !== undefined) assert(this.#source.receive(request).ok);
      const push = this.#source.next();
      if (push !== undefined) this.#take(push, accept);
      if (request === undefined && push === undefined) return;
    }
    throw new Error("the two never come to rest");
  }

  #take(push: Push, accept: boolean): void {
    const { type, nonce, version, content } = push;
    const incremental = content.kind === "delta";
    assertEquals(this.#sink.receive({ type, nonce, version, incremental }, 0).kind, "push");
    if (!accept) {
      return this.#sink.settle(type, nonce, { code: 3, message: "no", details: [] });
    }
    const set = content.kind === "full" ? {} : { ...this.held };
    const given = content.kind === "full" ? content.collection : content.diff.changed;
    for (const { name, version } of given) set[name] = version;
    if (content.kind === "delta") { for (const name of content.diff.removed) delete set[name]; }
    this.held = set;
    this.#sink.settle(type, nonce);
  }
}
