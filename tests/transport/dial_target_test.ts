import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type * as grpc from "@grpc/grpc-js";
import { basicAuthorization } from "../../lib/transport/connect_proxy.ts";
import type { Gate } from "../../lib/transport/gate.ts";
import { rawMethod } from "../../lib/transport/grpc_bytes.ts";
import { HookedServer } from "../../lib/transport/hooked_server.ts";
import { listen } from "../../lib/transport/listener.ts";
import { Authority, TempFolder } from "./certificates.ts";
import { concat, settings } from "./frames.ts";
import { type Answer, TestProxy } from "./proxies.ts";
import { PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";
import { dial, echo, files, reasonOf, SecureServing } from "./secure_serving.ts";
const authority = await Authority.create("Test Authority");
const stranger = await Authority.create("Other Authority");
globalThis.addEventListener("unload", () => {
  void authority[Symbol.asyncDispose]();
  void stranger[Symbol.asyncDispose]();
});
const server = await authority.issue({
  names: "DNS:sink.example, IP:127.0.0.1, DNS:*.mesh.example",
});
const client = await authority.issue({ names: "URI:spiffe://example.org/ns/edge/sa/fra" });

Deno.test("dial target: the token is read at each attempt; what is wrong with its file is said without it", async () => {
  await using serving = await Serving.start();
  await using folder = await TempFolder.create();
  const tokenFile = await folder.write("token", "first\n");
  const said = () => serving.streams.at(-1)!.metadata.authorization;
  await dial(serving.port, { tokenFile });
  await until(() => serving.streams.length === 1, "the stream came");
  assertEquals(said(), ["Bearer first"]);
  await folder.write("token", "  second  \r\n");
  await dial(serving.port, { tokenFile });
  await until(() => serving.streams.length === 2, "the stream came");
  assertEquals(said(), ["Bearer second"]);
  const wrongs: readonly (readonly [string, string])[] = [
    ["", "is empty"],
    [" \n", "is empty"],
    ["secret\nsecret", "has more than one line; it must hold the token alone"],
    ["secret secret", "holds spaces or characters that a header cannot carry"],
    ["sécret", "holds spaces or characters that a header cannot carry"],
    ["s".repeat(8193), "is larger than 8192 bytes"],
  ];
  for (const [content, reason] of wrongs) {
    await folder.write("token", content);
    assertEquals(
      await reasonOf(dial(serving.port, { tokenFile })),
      `the token file ${tokenFile} ${reason}`,
    );
  }
  await Deno.remove(tokenFile);
  assertEquals(
    await reasonOf(dial(serving.port, { tokenFile })),
    `the token file ${tokenFile} does not exist`,
  );
  assertEquals(serving.streams.length, 2);
});

Deno.test("dial target: through a proxy, with TLS to the sink, by the sink's name", async () => {
  await using serving = await SecureServing.start({ ...server, ca: authority.cert });
  await using proxy = await TestProxy.start();
  const { folder, tls } = await files({ ...client, ca: authority.cert });
  await using _ = folder;
  const authorization = basicAuthorization("edge", "pä:ss");
  const stream = await dial(serving.port, {
    tls,
    proxy: { host: "127.0.0.1", port: proxy.port, authorization },
  });
  await echo(stream);
  assertEquals(proxy.heads, [
    `CONNECT sink.example:${serving.port} HTTP/1.1\r\nHost: sink.example:${serving.port}\r\n` +
    "Proxy-Authorization: Basic ZWRnZTpww6Q6c3M=\r\n\r\n",
  ]);
  assertEquals(stream.peer, { address: "sink.example", port: serving.port });
  stream.end();
  await until(() => proxy.open === 0, "the connection through the proxy is closed");
});

Deno.test("dial target: :authority is the sink's, with a proxy and without", async () => {
  const hosts: string[] = [];
  const gates: Gate[] = [];
  const hooked = new HookedServer({});
  hooked.server.addService({ Stream: rawMethod(PATH, true) }, {
    Stream: (call: grpc.ServerDuplexStream<Uint8Array, Uint8Array>) =>
      void hosts.push(call.getHost()),
  });
  await using listener = await listen({ host: "127.0.0.1", port: 0 }, {
    inject: (gate) => {
      gates.push(gate);
      hooked.inject(gate);
    },
  }, { now });
  await using proxy = await TestProxy.start();
  const { port } = listener.address;
  for (const options of [{}, { proxy: { host: "127.0.0.1", port: proxy.port } }]) {
    const stream = await dial(port, options);
    const count = hosts.length;
    await until(() => hosts.length > count, "the call came");
    stream.cut("enough");
  }
  assertEquals(hosts, [`sink.example:${port}`, `sink.example:${port}`]);
  for (const gate of gates) gate.destroy();
  await until(() => gates.every((gate) => gate.closed), "every gate is closed");
  hooked.close();
});

const REFUSALS: readonly (readonly [string, Answer, RegExp])[] = [
  [
    "407",
    (_, socket) => {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
    },
    /^the proxy refused: 407 Proxy Authentication Required; give it a user and a password: http:/,
  ],
  [
    "a status without a reason",
    (_, socket) => void socket.end("HTTP/1.0 502\r\n\r\n"),
    /^the proxy refused: 502$/,
  ],
  ["garbage", (_, socket) => void socket.write("SSH-2.0-x\r\n"), /^what answers is no HTTP proxy$/],
  [
    "something like HTTP",
    (_, socket) => void socket.write("HTTP/1.1 yes\r\n\r\n"),
    /^what answers is no HTTP proxy$/,
  ],
  [
    "a head without an end",
    (_, socket) => void socket.write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(2000)}`),
    /^the head of the proxy's answer is larger than 8192 bytes$/,
  ],
  [
    "an end",
    (_, socket) => void socket.end(),
    /^the proxy closed the connection without an answer$/,
  ],
  [
    "a reset",
    (_, socket) => void socket.resetAndDestroy(),
    /^the (proxy closed|connection to the)/,
  ],
];

for (const [what, answer, expected] of REFUSALS) {
  Deno.test(`dial target: a proxy that answers with ${what} is quoted`, async () => {
    await using proxy = await TestProxy.start(answer);
    const options = { proxy: { host: "127.0.0.1", port: proxy.port } };
    assertMatch(await reasonOf(dial(9901, options)), expected);
    await until(() => proxy.open === 0, "nothing is left");
  });
}

Deno.test("dial target: a proxy that does not take our password is not asked to be given one", async () => {
  await using refusing = await TestProxy.start((_, socket) =>
    void socket.end("HTTP/1.1 407 No\r\n\r\n")
  );
  const authorization = basicAuthorization("pinnace", "wrong");
  const proxy = { host: "127.0.0.1", port: refusing.port, authorization };
  assertMatch(
    await reasonOf(dial(9901, { proxy })),
    /^the proxy refused: 407 No; the user or the password given to it is wrong/,
  );
});

Deno.test("dial target: a proxy that is not there is said not to be, and so is a name", async () => {
  await using gone = await TestProxy.start();
  const proxy = { host: "127.0.0.1", port: gone.port };
  await gone[Symbol.asyncDispose]();
  assertMatch(await reasonOf(dial(9901, { proxy })), /^the proxy is not reached: .*ECONNREFUSED/);
  const nowhere = { host: "no-such-host.invalid", port: 3128 };
  assertEquals(
    await reasonOf(dial(9901, { proxy: nowhere })),
    "the proxy is not reached: the name no-such-host.invalid does not resolve",
  );
});

Deno.test("dial target: a proxy that never answers is left when the time is over", async () => {
  await using proxy = await TestProxy.start(() => {});
  const attempt = dial(
    9901,
    { proxy: { host: "127.0.0.1", port: proxy.port } },
    AbortSignal.timeout(100),
  );
  await assertRejects(() => attempt, DOMException);
  await until(() => proxy.open === 0, "nothing is left");
});

Deno.test("dial target: what comes right behind the proxy's answer is not lost", async () => {
  const opening = concat(settings());
  await using proxy = await TestProxy.start((_, socket) => {
    const head = new TextEncoder().encode("HTTP/1.1 200 OK\r\nX-Via: a\r\n\r\n");
    socket.write(concat(head, opening)); // SETTINGS in one piece with the answer
    socket.resume();
  });
  const stream = await dial(9901, { proxy: { host: "127.0.0.1", port: proxy.port } });
  stream.cut("enough");
  await until(() => proxy.open === 0, "nothing is left");
});
