import { assertEquals, assertExists, assertMatch } from "@std/assert";
import { limitedResolver } from "../../lib/protocol/limited_resolver.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { SinkDialer } from "../../lib/transport/sink_dialer.ts";
import type { Dial, SinkTarget } from "../../lib/transport/sink_link.ts";
import { requestResourcesCodec, resourcesCodec } from "../../lib/wire/messages.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { quietObserver } from "./quiet_observer.ts";

const SINK: SinkTarget = {
  name: "mesh-a",
  host: "sink.example",
  port: 9901,
  headers: { "x-site": "fra" },
  heartbeat: 30_000,
  collections: [],
  wave: 1,
};
const COLLECTION = "istio/networking/v1alpha3/serviceentries";

/** A dialer whose sinks, addresses and streams are the test's. */
class Bench implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly dialled: { host: string | undefined; headers: Readonly<Record<string, string>> }[] = [];
  readonly streams: FakeStream[] = [];
  readonly log: string[] = [];
  addresses: string[] | Error = ["192.0.2.1"];
  refuse: Error | undefined;
  looked = 0;
  resolve = (_host: string): Promise<readonly string[]> => {
    this.looked++;
    const { addresses } = this;
    return addresses instanceof Error ? Promise.reject(addresses) : Promise.resolve(addresses);
  };
  dial: Dial = ({ headers }, { host }, _path, { signal }) => {
    this.dialled.push({ host, headers });
    if (this.refuse !== undefined) return Promise.reject(this.refuse);
    const stream = new FakeStream();
    signal.addEventListener("abort", () => stream.leave());
    this.streams.push(stream);
    return Promise.resolve(stream);
  };
  readonly sender = new Sender({ now: () => this.clock.now() });
  readonly sessions = new Sessions({
    targets: new Hub(),
    sender: this.sender,
    observer: quietObserver,
    clock: this.clock,
  });
  readonly dialer = new SinkDialer({
    sessions: this.sessions,
    clock: this.clock,
    random: () => 0,
    resolver: ({ collections }) =>
      limitedResolver(collectionResolver({ unknownCollection: "error" }), collections),
    resolve: (host) => this.resolve(host),
    instance: () => "edge-1",
    dial: (...args) => this.dial(...args),
    observer: {
      up: (sink, address) => void this.log.push(`up ${sink} ${address}`),
      down: (sink, address, reason) => void this.log.push(`down ${sink} ${address}: ${reason}`),
    },
    unresolved: (sink, host, reason) => void this.log.push(`unresolved ${sink} ${host}: ${reason}`),
  });

  /** The newest stream's sink asks for its collection. */
  ask(stream = this.streams.at(-1)!): void {
    stream.request(requestResourcesCodec.encode({ collection: COLLECTION }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialer[Symbol.asyncDispose]();
    this.sender[Symbol.dispose]();
    this.sessions[Symbol.dispose]();
  }
}

Deno.test("dial-out: the first message is the trigger, without a nonce, and headers go along", async () => {
  await using bench = new Bench();
  bench.dialer.configure([SINK]);
  await settle();
  assertEquals(bench.dialled, [{
    host: "192.0.2.1",
    headers: { "x-pinnace-instance": "edge-1", "x-pinnace-resumes": "1", "x-site": "fra" },
  }]);
  const first = resourcesCodec.decode(bench.streams[0]!.written[0]!);
  assertEquals([first.collection, first.nonce], ["$triggerCollection", ""]);
  assertEquals(bench.log, []); // up only once the sink has spoken
  bench.ask();
  await settle();
  assertEquals(bench.log, ["up mesh-a 192.0.2.1:9901"]);
});

Deno.test("dial-out: every address behind a name has a stream; a replica that comes or goes is followed", async () => {
  await using bench = new Bench();
  bench.addresses = ["192.0.2.1", "2001:db8::1"];
  bench.dialer.configure([SINK]);
  await settle();
  assertEquals(bench.dialled.map((d) => d.host), ["192.0.2.1", "2001:db8::1"]);
  for (const stream of bench.streams) bench.ask(stream);
  bench.addresses = ["2001:db8::1", "192.0.2.3"];
  await bench.clock.pass(30_000);
  assertEquals(bench.dialled.map((d) => d.host), ["192.0.2.1", "2001:db8::1", "192.0.2.3"]);
  assertEquals(bench.streams.map((s) => s.signal.aborted), [true, false, false]);
  assertEquals(bench.dialer.status()[0]!.links.map((l) => l.address), [
    "[2001:db8::1]:9901",
    "192.0.2.3:9901",
  ]);
});

Deno.test("dial-out: a sink that is down is dialled for ever, ever slower up to 30 s", async () => {
  await using bench = new Bench();
  bench.refuse = new Error("connection refused");
  bench.dialer.configure([SINK]);
  const attempts: number[] = [];
  for (let i = 0; i < 10; i++) {
    await bench.clock.pass(30_000);
    attempts.push(bench.dialled.length);
  }
  // after 1, 2, 4, 8, 16 s, then every 30 s
  assertEquals(attempts, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  const link = bench.dialer.status()[0]!.links[0]!;
  assertEquals([link.state.kind, link.lastError], ["waiting", "connection refused"]);
});

Deno.test("dial-out: the first request received resets the back-off", async () => {
  await using bench = new Bench();
  bench.refuse = new Error("connection refused");
  bench.dialer.configure([SINK]);
  await bench.clock.pass(100_000);
  bench.refuse = undefined;
  while (bench.streams.length === 0) await bench.clock.pass(1000);
  bench.ask();
  await settle();
  const before = bench.dialled.length;
  bench.streams.at(-1)!.leave();
  await bench.clock.pass(1000);
  assertEquals(bench.dialled.length, before + 1);
});

Deno.test("dial-out: a sink that never answers the trigger gets a new connection", async () => {
  await using bench = new Bench();
  bench.dialer.configure([SINK]);
  await bench.clock.pass(5000);
  assertEquals(bench.log, ["down mesh-a 192.0.2.1:9901: no answer within 5 s"]);
  assertEquals(bench.streams[0]!.ended?.code, "DEADLINE_EXCEEDED");
  await bench.clock.pass(1000);
  assertEquals(bench.dialled.length, 2);
});

Deno.test("dial-out: an idle stream is asked by the trigger; an answer keeps it, silence ends it", async () => {
  await using bench = new Bench();
  bench.dialer.configure([SINK]);
  await settle();
  const stream = bench.streams[0]!;
  bench.ask(stream);
  await bench.clock.pass(29_000);
  assertEquals(stream.written.length, 1);
  await bench.clock.pass(1000);
  assertEquals(resourcesCodec.decode(stream.written[1]!).collection, "$triggerCollection");
  stream.request(requestResourcesCodec.encode({
    collection: "$triggerCollection",
    errorDetail: { code: 12, message: "unsupported collection" },
  }));
  await bench.clock.pass(29_000);
  assertEquals([stream.written.length, stream.ended], [2, undefined]);
  await bench.clock.pass(7000);
  assertEquals(stream.written.length, 3);
  assertEquals(stream.ended?.code, "DEADLINE_EXCEEDED");
});

Deno.test("dial-out: a name that does not resolve is reported and tried again, and takes no link away", async () => {
  await using bench = new Bench();
  bench.dialer.configure([SINK]);
  await settle();
  bench.ask();
  bench.addresses = new Error("no such host");
  await bench.clock.pass(30_000);
  assertMatch(bench.log.at(-1)!, /^unresolved mesh-a sink\.example: no such host/);
  const status = bench.dialer.status()[0]!;
  assertEquals([status.unresolved, status.links.length], ["no such host", 1]);
});

Deno.test("dial-out: changed settings dial anew, unchanged ones leave the stream alone, removed ones end it", async () => {
  await using bench = new Bench();
  const other = { ...SINK, name: "mesh-b" };
  bench.dialer.configure([SINK, other]);
  await settle();
  bench.dialer.configure([{ ...SINK, headers: { "x-site": "ber" } }, { ...other }]);
  await settle();
  assertEquals(bench.streams.map((s) => s.signal.aborted), [true, false, false]);
  bench.dialer.configure([]);
  await settle();
  assertEquals(bench.streams.map((s) => s.signal.aborted), [true, true, true]);
  assertExists(bench.streams[1]!.ended);
});

Deno.test("dial-out: a sink behind a proxy is one link, by its name, and nobody looks that up", async () => {
  await using bench = new Bench();
  bench.addresses = new Error("no such host");
  bench.dialer.configure([{ ...SINK, proxy: { host: "proxy.example", port: 3128 } }]);
  await bench.clock.pass(1000);
  assertEquals([bench.dialled.map(({ host }) => host), bench.looked], [[undefined], 0]);
  bench.ask();
  await settle();
  assertEquals(bench.log, ["up mesh-a sink.example:9901"]);
});

Deno.test("dial-out: a look-up that hangs holds up neither other sinks nor the end, and is not repeated meanwhile", async () => {
  await using bench = new Bench();
  const hanging = Promise.withResolvers<readonly string[]>();
  const looked: string[] = [];
  bench.resolve = (host) => {
    looked.push(host);
    return host === "slow.example" ? hanging.promise : Promise.resolve(["192.0.2.7"]);
  };
  const slow = { ...SINK, name: "slow", host: "slow.example" };
  bench.dialer.configure([slow, SINK]);
  await bench.clock.pass(60_000);
  assertEquals([...new Set(bench.dialled.map((d) => d.host))], ["192.0.2.7"]);
  assertEquals(looked.filter((host) => host === "slow.example").length, 1);
  assertEquals(bench.dialer.status()[0]!.unresolved, "nothing looked up within 10 s");
  hanging.resolve(["192.0.2.8"]);
  await bench.clock.pass(12_000);
  assertEquals(bench.dialled.some(({ host }) => host === "192.0.2.8"), true);
  assertEquals(bench.dialer.status()[0]!.unresolved, undefined);
});

Deno.test("dial-out: disposing does not wait for a look-up that hangs", async () => {
  const bench = new Bench();
  bench.resolve = () => new Promise(() => {});
  bench.dialer.configure([SINK]);
  await settle();
  await bench[Symbol.asyncDispose]();
  assertEquals(bench.dialled, []);
});

Deno.test("dial-out: a link that does not end holds up no other", async () => {
  const stuck = Promise.withResolvers<never>();
  await using bench = new Bench();
  bench.addresses = ["192.0.2.1"];
  const { dial } = bench;
  bench.dial = (...args) => args[1].host === "192.0.2.1" ? stuck.promise : dial(...args);
  bench.dialer.configure([SINK]);
  await settle();
  bench.addresses = ["192.0.2.2"];
  await bench.clock.pass(30_000);
  assertEquals(bench.dialled.map(({ host }) => host), ["192.0.2.2"]);
  stuck.reject(new Error("at last"));
});

Deno.test("dial-out: every change of how a sink is reached or what it gets dials anew", async () => {
  await using bench = new Bench();
  const folder = (name: string) => ({ kind: "folder", folder: name }) as const;
  const steps: readonly SinkTarget[] = [
    SINK,
    { ...SINK, tls: { files: folder("/a") } },
    { ...SINK, tls: { files: folder("/b") } },
    { ...SINK, tls: { files: folder("/b"), serverName: "x.example" } },
    { ...SINK, tokenFile: "/t" },
    { ...SINK, proxy: { host: "p", port: 1 } },
    { ...SINK, proxy: { host: "p", port: 1, authorization: "Basic eA==" } },
    { ...SINK, collections: [COLLECTION] },
    { ...SINK, wave: 2 },
  ];
  for (const [at, target] of steps.entries()) {
    bench.dialer.configure([target]);
    await settle();
    assertEquals(bench.streams.length, at + 1, `step ${at}`);
    bench.dialer.configure([structuredClone(target)]);
    await settle();
    assertEquals(bench.streams.length, at + 1, `step ${at} again`);
  }
});

Deno.test("dial-out: a collection that a sink may not have is answered as an unknown one", async () => {
  await using bench = new Bench();
  bench.dialer.configure([{ ...SINK, collections: [COLLECTION] }]);
  await settle();
  bench.ask();
  await settle();
  bench.streams[0]!.request(requestResourcesCodec.encode({
    collection: "istio/networking/v1alpha3/destinationrules",
  }));
  await settle();
  assertMatch(bench.streams[0]!.ended?.message ?? "", /is not served to this sink/);
});
