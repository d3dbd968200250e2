import { assert, assertEquals, assertRejects } from "@std/assert";
import { judge } from "../../lib/receive/judge.ts";
import type { JudgeRequest } from "../../lib/receive/judge_messages.ts";
import { JudgeError, JudgeWorker } from "../../lib/receive/judge_worker.ts";
import type { Judgement, JudgeOptions } from "../../lib/receive/received.ts";
import { mcpPush, mcpResource } from "./pushes.ts";

const REAL = new URL("./judging_worker.ts", import.meta.url);
const script = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const FAILING = script('addEventListener("message", () => { throw new Error("made to fail"); });');
const HANGING = script('addEventListener("message", () => { for (;;); });');
const start = (url: URL) => () => new Worker(url, { type: "module" });
const OPTIONS: JudgeOptions = { protocol: "mcp", namespaces: [] };
const { signal } = new AbortController();

type Post = (message: JudgeRequest, transfer: Transferable[]) => void;

const push = (count: number, name = "svc") =>
  mcpPush(Array.from({ length: count }, (_, i) => mcpResource(`shop/${name}-${i}`)));

function firstName(judgement: Judgement): string | undefined {
  assert(judgement.kind === "accepted");
  return judgement.resources[0]?.resource.name;
}

Deno.test("judge worker: a worker judges as this thread does", async () => {
  await using worker = new JudgeWorker({ createWorker: start(REAL), small: 0 });
  const pushes = [
    push(500),
    mcpPush([mcpResource("shop/a"), mcpResource("/b")]),
    mcpPush([], { removedResources: ["a/b"], incremental: true }),
    mcpPush([], { collection: "$triggerCollection" }),
    Uint8Array.of(0xff),
  ];
  for (const bytes of pushes) {
    const before = bytes.slice();
    assertEquals(await worker.judge(bytes, OPTIONS, signal), judge(bytes, OPTIONS));
    assertEquals(bytes, before, "the caller's bytes stay");
  }
  const judgement = await worker.judge(pushes[0]!, OPTIONS, signal);
  assert(judgement.kind === "accepted");
  const buffers = new Set(judgement.resources.map(({ resource }) => resource.bytes.buffer));
  assertEquals(buffers.size, 1);
});

Deno.test("judge worker: who sends little is not held up by those who send much", async () => {
  let workers = 0;
  await using worker = new JudgeWorker({
    createWorker: () => {
      workers++;
      return start(REAL)();
    },
  });
  const order: (string | undefined)[] = [];
  const ask = (count: number, name: string) =>
    worker.judge(push(count, name), OPTIONS, signal).then((j) => order.push(firstName(j)));
  await ask(1, "alone");
  assertEquals(workers, 0, "for a small push no worker is started");
  const all = [ask(2000, "first"), ask(2000, "second"), ask(100, "less"), ask(1, "small")];
  assertEquals(worker.waiting, 3, "one is under way");
  await Promise.all(all);
  const names = ["alone", "small", "first", "less", "second"];
  assertEquals(order, names.map((name) => `shop/${name}-0`));
  assertEquals([worker.waiting, workers], [0, 1]);
});

Deno.test("judge worker: how many pushes one source has waiting holds up no other", async () => {
  await using worker = new JudgeWorker({ createWorker: start(REAL), small: 0 });
  const order: (string | undefined)[] = [];
  const ask = (name: string, queue: string) =>
    worker.judge(push(50, name), { ...OPTIONS, queue }, signal)
      .then((judgement) => order.push(firstName(judgement)));
  const names = ["a0", "a1", "a2", "b0"];
  await Promise.all(names.map((name) => ask(name, name.slice(0, 1))));
  assertEquals(order, ["a0", "a1", "b0", "a2"].map((name) => `shop/${name}-0`));
});

Deno.test("judge worker: its deadline is for the worker, not for the wait", async () => {
  const slow = script(`addEventListener("message", ({ data }) => setTimeout(() => {
    const judgement = { kind: "unreadable", message: "seen" };
    postMessage({ kind: "judged", id: data.id, judgement });
  }, 400));`);
  await using worker = new JudgeWorker({ createWorker: start(slow), small: 0, deadline: 3000 });
  const all = Array.from({ length: 10 }, () => worker.judge(push(2), OPTIONS, signal));
  const kinds = (await Promise.all(all)).map(({ kind }) => kind);
  assertEquals(kinds, new Array(10).fill("unreadable"));
});

Deno.test("judge worker: what nobody waits for any more is not piled up in the worker", async () => {
  const noted: number[] = [];
  await using worker = new JudgeWorker({
    small: 0,
    createWorker: () => {
      const started = start(REAL)();
      const post = started.postMessage.bind(started) as Post;
      started.postMessage = ((message: JudgeRequest, transfer: Transferable[]) => {
        noted.push(message.bytes.length);
        post(message, transfer);
      }) as Worker["postMessage"];
      return started;
    },
  });
  const large = push(2000);
  for (let i = 0; i < 20; i++) {
    const gone = new AbortController();
    const asked = worker.judge(large, OPTIONS, gone.signal);
    gone.abort(new Error("the stream ended"));
    await assertRejects(() => asked, Error, "the stream ended");
  }
  assertEquals(worker.waiting, 1);
  assertEquals(firstName(await worker.judge(push(2, "last"), OPTIONS, signal)), "shop/last-0");
  assertEquals(noted, [large.length, push(2, "last").length]);
});

Deno.test("judge worker: one that dies is our failure, not the push's, and is replaced", async () => {
  let url = FAILING;
  await using worker = new JudgeWorker({ createWorker: () => start(url)(), small: 0 });
  await assertRejects(() => worker.judge(push(2), OPTIONS, signal), JudgeError, "made to fail");
  url = REAL;
  assertEquals(firstName(await worker.judge(push(2), OPTIONS, signal)), "shop/svc-0");
});

Deno.test("judge worker: an error of ours while judging is no judgement, in the worker or here", async () => {
  for (const small of [0, 1 << 20]) {
    await using worker = new JudgeWorker({ createWorker: start(REAL), small });
    const broken = { protocol: "mcp" } as JudgeOptions;
    await assertRejects(() => worker.judge(push(2), broken, signal), JudgeError, "undefined");
    assertEquals(firstName(await worker.judge(push(2), OPTIONS, signal)), "shop/svc-0");
  }
});

Deno.test("judge worker: one that hangs is replaced", async () => {
  let url = HANGING;
  const createWorker = () => start(url)();
  await using worker = new JudgeWorker({ createWorker, small: 0, deadline: 300 });
  await assertRejects(() => worker.judge(push(2), OPTIONS, signal), JudgeError, "within 0.3 s");
  url = FAILING; // answers at once, so the next is not the one that hangs
  await assertRejects(() => worker.judge(push(2), OPTIONS, signal), JudgeError, "made to fail");
});

Deno.test("judge worker: who gives up does not wait, and does not stop the next", async () => {
  await using worker = new JudgeWorker({ createWorker: start(REAL), small: 0 });
  const gone = new AbortController();
  const first = worker.judge(push(2000), OPTIONS, gone.signal);
  const second = worker.judge(push(2, "second"), OPTIONS, gone.signal);
  const third = worker.judge(push(2, "third"), OPTIONS, signal);
  gone.abort(new Error("the stream ended"));
  await assertRejects(() => first, Error, "the stream ended");
  await assertRejects(() => second, Error, "the stream ended");
  assertEquals(firstName(await third), "shop/third-0");
});

Deno.test("judge worker: disposing it ends what is under way", async () => {
  const worker = new JudgeWorker({ createWorker: start(HANGING), small: 0 });
  const asked = [worker.judge(push(2), OPTIONS, signal), worker.judge(push(2), OPTIONS, signal)];
  const ends = asked.map((one) => assertRejects(() => one, DOMException, "has ended"));
  await Promise.resolve();
  await worker[Symbol.asyncDispose]();
  await Promise.all(ends);
  await assertRejects(() => worker.judge(push(1), OPTIONS, signal), DOMException);
});
