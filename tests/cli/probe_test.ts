import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { load, loadAll } from "js-yaml";
import { probeUntil } from "../../lib/cli/probe.ts";
import type { ProbeFlags } from "../../lib/cli/probe_flags.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";
import { discoveryResponseCodec, resourcesCodec } from "../../lib/wire/messages.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { until } from "../interop/lib/wait.ts";
import { badServer, KeptScreen, ProbedServer } from "./probed_server.ts";

const FLAGS: ProbeFlags = {
  protocol: "mcp",
  timeout: "20s",
  node: "probe",
  format: "text",
  maxMessage: "64MiB",
};

/** A probe under way. */
function start(address: string, flags: Partial<ProbeFlags> = {}, terminal = false) {
  const options = readProbeOptions(address, { ...FLAGS, ...flags });
  if (typeof options === "string") throw new Error(options);
  const [out, err] = [new KeptScreen(), new KeptScreen({ isTerminal: terminal })];
  const told = new AbortController();
  const code = probeUntil(options, { out, err }, told.signal);
  return { out, err, code, told };
}

/** A probe that ends by itself. */
async function run(address: string, flags: Partial<ProbeFlags> = {}, terminal = false) {
  const { out, err, code } = start(address, flags, terminal);
  return { code: await code, out: out.text, err: err.text };
}

const TWO = { "default/orders": "orders.example", "shop/billing": "billing.example" };

async function serving(hosts: Readonly<Record<string, string>> = TWO): Promise<ProbedServer> {
  const server = await ProbedServer.start();
  server.publish(hosts);
  return server;
}

function send(stream: PushStream, bytes: Uint8Array): void {
  stream.write({ pieces: [bytes], length: bytes.length }).catch(() => {});
}

for (const protocol of ["mcp", "ads", "ads-delta"] as const) {
  Deno.test(`probe: over ${protocol}, every kind is asked for and what is served is printed`, async () => {
    await using server = await serving();
    const { code, out, err } = await run(server.address, { protocol });
    assertEquals([code, err.replace(/in .*/, "in …")], [0, "15 types answered in …\n"]);
    assertEquals(out.match(/^\+\S+ {2}\S+ {2}.*version=\S+ nonce=\S+$/gm)?.length, 15);
    assertMatch(out, /^ {2}\+ default\/orders [0-9a-f]{16}\n {2}\+ shop\/billing [0-9a-f]{16}$/m);
    await until(
      "the server has its answers, and the stream is over",
      () => server.sessions.list().length === 0,
    );
  });

  Deno.test(`probe: over ${protocol}, what changes is followed until it is told to stop`, async () => {
    await using server = await serving();
    const probe = start(server.address, {
      protocol,
      collection: ["ServiceEntry"],
      incremental: protocol === "mcp",
      follow: true,
    });
    await until("the first push", () => probe.out.text.includes("shop/billing"));
    const before = probe.out.text.length;
    await until("the ACK", () => server.sessions.list()[0]?.subscriptions()[0]?.acks === 1);
    server.publish({ "default/orders": "other.example" });
    const gone = protocol === "ads" ? "1 resource" : "- shop/billing";
    await until("the change", () => probe.out.text.slice(before).includes(gone));
    await until("its ACK", () => server.sessions.list()[0]?.subscriptions()[0]?.acks === 2);
    probe.told.abort();
    assertEquals(await probe.code, 0);
    assertEquals(probe.out.text.slice(before).includes("shop/billing"), protocol !== "ads");
  });

  Deno.test(`probe: over ${protocol}, it ends when nobody reads what it prints any more`, async () => {
    await using server = await serving();
    const probe = start(server.address, { protocol, collection: ["ServiceEntry"], follow: true });
    await until("the first push", () => probe.out.text.includes("shop/billing"));
    probe.out.leave();
    server.publish({ "default/orders": "other.example" });
    assertEquals([await probe.code, probe.err.text], [0, ""]);
  });

  Deno.test(`probe: over ${protocol}, a refusal reaches the server with its reason, and what is sent again is said`, async () => {
    await using server = await serving();
    const probe = start(server.address, {
      protocol,
      collection: ["ServiceEntry"],
      nack: "not today",
      follow: true,
    });
    const subscription = () => server.sessions.list()[0]?.subscriptions()[0];
    await until("the NACK", () => subscription()?.nacks === 1);
    assertEquals(subscription()?.lastNack, "not today");
    assertMatch(probe.out.text, /refused: not today\n/);
    server.publish({ "default/orders": "other.example" });
    await until("the next is taken", () => subscription()?.acks === 1);
    assert(!probe.err.text.includes("sent again"), probe.err.text);
    probe.told.abort();
    assertEquals(await probe.code, 0);
  });
}

Deno.test("probe: one type is one type", async () => {
  await using server = await serving();
  const { err } = await run(server.address, { collection: ["ServiceEntry"] });
  assertMatch(err, /^1 type answered in /);
});

Deno.test("probe: without --follow a refusal waits for what the server makes of it", async () => {
  await using server = await serving();
  const { code, out } = await run(server.address, { collection: ["ServiceEntry"], nack: true });
  assertEquals([code, out.match(/refused: refused by pinnace probe/g)?.length], [0, 1]);
});

Deno.test("probe: a server that sends again what was refused is found out", async () => {
  let nonces = 0;
  await using server = await badServer((stream) => {
    stream.onRequest(() => {
      if (++nonces > 3) return;
      send(stream, resourcesCodec.encode({ collection: "c", nonce: String(nonces) }));
    });
  });
  const { code, err } = await run(server.address, { collection: ["c"], nack: "no" });
  assertEquals(code, 0);
  assertStringIncludes(err, "c: the version refused was sent again");
});

Deno.test("probe: YAML, JSON and names are what other programs can read", async () => {
  await using server = await serving();
  const only = { collection: ["ServiceEntry"] };
  const yaml = await run(server.address, { ...only, format: "yaml" });
  const objects = loadAll(yaml.out) as { kind: string; spec: { hosts: string[] } }[];
  assertEquals(objects.filter(Boolean).map(({ kind, spec }) => [kind, ...spec.hosts]), [
    ["ServiceEntry", "orders.example"],
    ["ServiceEntry", "billing.example"],
  ]);
  const json = await run(server.address, { ...only, format: "json" });
  const push = JSON.parse(json.out);
  assertEquals(push.resources[1].object.spec.hosts, ["billing.example"]);
  assertEquals([push.type, push.incremental], ["istio/networking/v1alpha3/serviceentries", false]);
  const names = await run(server.address, { ...only, format: "names", protocol: "ads-delta" });
  assertEquals(names.out, "ServiceEntry/default/orders\nServiceEntry/shop/billing\n");
});

Deno.test("probe: progress is for terminals alone, and is gone at the end", async () => {
  await using server = await serving();
  const plain = await run(server.address, { format: "names" });
  assertEquals(plain.err, "");
  const terminal = await run(server.address, { format: "names" }, true);
  assertStringIncludes(terminal.err, "\r\x1b[Kconnecting to 127.0.0.1:");
  assertMatch(terminal.err, /\d of 15 types answered/);
  assert(terminal.err.endsWith("\r\x1b[K"), JSON.stringify(terminal.err));
});

Deno.test("probe: while it follows, a terminal shows so below what was printed", async () => {
  await using server = await serving();
  const only = { collection: ["ServiceEntry"], follow: true };
  const { err, told, code } = start(server.address, only, true);
  await until("it follows", () => err.text.endsWith("following; Ctrl-C ends it"));
  told.abort();
  assertEquals(await code, 0);
});

Deno.test("probe: what a server chose cannot reach the terminal raw", async () => {
  const evil = "\x1b[2J\x07\u009b\u202e\nfake";
  await using server = await badServer((stream) => {
    stream.onRequest(() => {
      const resources = [{ metadata: { name: evil, version: evil }, body: { typeUrl: evil } }];
      send(
        stream,
        resourcesCodec.encode({ collection: "c", nonce: evil, systemVersionInfo: evil, resources }),
      );
    });
  });
  for (const format of ["text", "names", "yaml", "json"] as const) {
    const { out, err } = await run(server.address, { collection: ["c"], format });
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(out + err), JSON.stringify(out));
    assert(!/^fake/m.test(out), out);
    if (format === "json") assertEquals(JSON.parse(out).resources[0].name, evil);
    if (format === "yaml") load(out);
  }
});

Deno.test("probe: nobody there, nobody speaking, somebody speaking otherwise: each is said", async (t) => {
  const of = async (serve: (c: Deno.Conn) => void, timeout = "2s") => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const open: Deno.Conn[] = [];
    const accepting = (async () => {
      for await (const connection of listener) {
        open.push(connection);
        serve(connection);
      }
    })().catch(() => {});
    const result = await run(`127.0.0.1:${listener.addr.port}`, { timeout });
    listener.close();
    for (const connection of open) {
      try {
        connection.close();
      } catch { /* it is */ }
    }
    await accepting;
    return result;
  };
  await t.step("nobody", async () => {
    const { code, err } = await run("127.0.0.1:1");
    assertEquals(code, 1);
    assertMatch(err, /^error: 127\.0\.0\.1:1 is not reached: .*(refused|ECONNREFUSED)/);
  });
  await t.step("a name that does not resolve", async () => {
    const { code, err } = await run("no-such-host.invalid:1");
    assertEquals(code, 1);
    assertMatch(err, /^error: no-such-host\.invalid:1 is not reached: /);
  });
  await t.step("silence", async () => {
    const { code, err } = await of(() => {}, "500ms");
    assertEquals(code, 1);
    assertMatch(err, /no (connection|answer) within 500ms/);
  });
  await t.step("HTTP/1.1", async () => {
    const { code, err } = await of((connection) => {
      connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"))
        .catch(() => {});
    });
    assertEquals(code, 1);
    assertMatch(err, /^error: .*does not speak HTTP\/2/);
  });
  await t.step("a connection that is closed at once", async () => {
    const { code, err } = await of((connection) => connection.close());
    assertEquals(code, 1);
    assertMatch(err, /^error: 127/);
  });
});

Deno.test("probe: a server that answers wrongly is an error that says how", async (t) => {
  const told = async (behave: (stream: PushStream) => void, flags: Partial<ProbeFlags> = {}) => {
    await using server = await badServer(behave);
    const { code, err } = await run(server.address, {
      collection: ["ServiceEntry"],
      timeout: "3s",
      ...flags,
    });
    assertEquals(code, 1);
    return err;
  };
  await t.step("bytes that are no message", async () => {
    const err = await told((stream) => stream.onRequest(() => send(stream, Uint8Array.of(255))));
    assertMatch(err, /what the server sent is not of this protocol: cannot decode/);
  });
  await t.step("nothing at all", async () => {
    const err = await told((stream) => stream.onRequest(() => {}), { timeout: "500ms" });
    assertMatch(err, /no answer within 500ms for istio\/networking\/v1alpha3\/serviceentries/);
  });
  await t.step("another collection, and nothing of what was asked", async () => {
    const err = await told(
      (stream) =>
        stream.onRequest(() =>
          send(stream, resourcesCodec.encode({ collection: "x", nonce: "1" }))
        ),
      { timeout: "500ms" },
    );
    assertMatch(err, /x was sent and not asked for\n/);
    assertMatch(err, /no answer within/);
  });
  await t.step("a response without a nonce", async () => {
    const err = await told(
      (stream) =>
        stream.onRequest(() =>
          send(
            stream,
            discoveryResponseCodec.encode({ typeUrl: "networking.istio.io/v1/ServiceEntry" }),
          )
        ),
      { protocol: "ads" },
    );
    assertMatch(err, /the server breaks the protocol: .* has no nonce/);
  });
  await t.step("a difference where all there is was asked for", async () => {
    const collection = "istio/networking/v1alpha3/serviceentries";
    const err = await told((stream) =>
      stream.onRequest(() =>
        send(stream, resourcesCodec.encode({ collection, nonce: "1", incremental: true }))
      )
    );
    assertMatch(
      err,
      /the server breaks the protocol: .*serviceentries: all there is was asked for/,
    );
  });
  await t.step("an end with a reason", async () => {
    const err = await told((stream) =>
      stream.onRequest(() => stream.end({ code: "INVALID_ARGUMENT", message: "not that" }))
    );
    assertMatch(err, /the server ended the stream: INVALID_ARGUMENT: not that\n$/);
  });
  await t.step("an end at a type that it does not serve", async () => {
    await using server = await badServer((stream) =>
      stream.onRequest(() => stream.end({ code: "INVALID_ARGUMENT", message: "no gateways" }))
    );
    const { err } = await run(server.address);
    assertMatch(err, /INVALID_ARGUMENT: no gateways; --collection asks only for what you name\n$/);
  });
  await t.step("more than is taken", async () => {
    const err = await told(
      (stream) => stream.onRequest(() => send(stream, new Uint8Array(100_000))),
      { maxMessage: "10KiB" },
    );
    assertMatch(err, /RESOURCE_EXHAUSTED.*; --max-message says how much is taken\n$/);
  });
});

Deno.test("probe: told to stop before there is an answer, it fails", async () => {
  await using server = await badServer((stream) => stream.onRequest(() => {}));
  const probe = start(server.address);
  await new Promise((resolve) => setTimeout(resolve, 100));
  probe.told.abort();
  assertEquals(await probe.code, 1);
  assertMatch(probe.err.text, /stopped before there was an answer/);
});
