import { assertEquals, assertRejects } from "@std/assert";
import { SharedLookUps } from "../../lib/transport/shared_look_ups.ts";
import { connectTcp } from "../../lib/transport/tcp.ts";
import { FakeClock, settle } from "./fakes.ts";

/** Look-ups whose resolver answers when the test says so; names that begin with `good` do at once. */
class Bench {
  readonly clock = new FakeClock();
  readonly running = new Map<string, PromiseWithResolvers<readonly string[]>>();
  readonly begun: string[] = [];
  most = 0;
  readonly lookUps = new SharedLookUps((host) => {
    this.begun.push(host);
    if (host.startsWith("good")) return Promise.resolve(["192.0.2.1"]);
    const answer = Promise.withResolvers<readonly string[]>();
    this.running.set(host, answer);
    this.most = Math.max(this.most, this.running.size);
    return answer.promise;
  }, this.clock);

  /** Asks for names that never answer by themselves. */
  hang(...names: string[]): void {
    for (const name of names) this.lookUps.find(name).catch(() => {});
  }

  /** The system gives up on all that run. */
  async giveUp(): Promise<void> {
    const running = [...this.running.values()];
    this.running.clear();
    for (const answer of running) answer.reject(new Error("EAI_AGAIN"));
    await settle();
  }
}

const NAMES = Array.from({ length: 40 }, (_, i) => `hangs-${i}.example`);

Deno.test("look-ups: of forty names that hang a few are looked up at once, and a name that answered goes on being found", async () => {
  const bench = new Bench();
  await bench.lookUps.find("good.example");
  bench.hang(...NAMES);
  await settle();
  assertEquals(bench.running.size, 6);
  assertEquals(await bench.lookUps.find("good.example"), ["192.0.2.1"]);
  assertEquals(await bench.lookUps.find("10.0.0.1"), ["10.0.0.1"]);
  assertEquals(await bench.lookUps.find("2001:db8::1"), ["2001:db8::1"]);
  assertEquals(bench.begun.filter((name) => !name.startsWith("hangs")).length, 2);
});

Deno.test("look-ups: a new name of another domain waits for no more than those that run", async () => {
  const bench = new Bench();
  bench.hang(...NAMES);
  const found = bench.lookUps.find("good-host");
  await bench.clock.pass(10_000);
  assertEquals(bench.begun.length, 6);
  await bench.giveUp();
  assertEquals(await found, ["192.0.2.1"]);
  assertEquals([bench.begun[6], bench.running.size], ["good-host", 4]);
});

Deno.test("look-ups: names that hung leave room for names that are new", async () => {
  const bench = new Bench();
  bench.hang(...NAMES);
  while (bench.running.size > 0) {
    await bench.clock.pass(10_000);
    await bench.giveUp();
  }
  assertEquals([bench.begun.length, bench.most], [40, 6]);
  bench.hang(...NAMES);
  await settle();
  assertEquals(bench.running.size, 4);
  assertEquals(await bench.lookUps.find("good.other.example"), ["192.0.2.1"]);
  await bench.giveUp();
  assertEquals(bench.running.size, 4, "the others have their turn");
});

Deno.test("look-ups: a name that hung and answers again is as good as any", async () => {
  const bench = new Bench();
  bench.hang("hangs.example");
  await bench.clock.pass(10_000);
  await bench.giveUp();
  bench.hang("hangs.example");
  bench.running.get("hangs.example")!.resolve(["192.0.2.2"]);
  await settle();
  bench.hang(...NAMES);
  const found = bench.lookUps.find("hangs.example");
  bench.running.get("hangs.example")!.resolve(["192.0.2.3"]);
  assertEquals(await found, ["192.0.2.3"]);
});

Deno.test("look-ups: whoever asks for a name that is being looked up shares the answer, be it a refusal", async () => {
  const bench = new Bench();
  const both = [bench.lookUps.find("a.example"), bench.lookUps.find("a.example")];
  bench.running.get("a.example")!.reject(new Error("ENOTFOUND"));
  for (const one of both) await assertRejects(() => one, Error, "ENOTFOUND");
  assertEquals(bench.begun, ["a.example"]);
});

Deno.test("look-ups: a connection to a name is made to what the system finds", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const socket = await connectTcp(
    { host: "localhost", port: listener.addr.port },
    new AbortController().signal,
  );
  assertEquals(socket.remoteAddress, "127.0.0.1");
  (await accepted).close();
  socket.destroy();
});
