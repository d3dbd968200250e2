import { assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import { listen } from "../../lib/transport/listener.ts";
import { TlsServer } from "../../lib/transport/tls_server.ts";
import { Authority, type Pair, TempFolder } from "./certificates.ts";
import { TokenIndex } from "../../lib/transport/token_index.ts";
import { Bench, ENTRIES, RawSource } from "./receiving_bench.ts";
import { Call } from "./serving.ts";
import { now } from "./sockets.ts";

/** A client that dials with TLS and shows a certificate if it has one. */
class SecureCaller implements Disposable {
  readonly #client: grpc.Client;

  constructor(port: number, ca: string, pair?: Pair) {
    const [root, key, cert] = [ca, pair?.key, pair?.cert].map((text) =>
      text === undefined ? null : Buffer.from(text)
    ) as [Buffer, Buffer | null, Buffer | null];
    const credentials = grpc.credentials.createSsl(root, key, cert);
    this.#client = new grpc.Client(`localhost:${port}`, credentials, {
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  call(path: string, metadata: grpc.Metadata): Call {
    const pass = (bytes: Uint8Array) => Buffer.from(bytes);
    return new Call(this.#client.makeBidiStreamRequest(path, pass, pass, metadata));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

Deno.test("receiver: over TLS a certificate names the source, else a token does, else nobody comes", async () => {
  await using authority = await Authority.create("Test Authority");
  await using folder = await TempFolder.create();
  const server = await authority.issue({ names: "DNS:localhost" });
  await folder.writeTls({ ...server, ca: authority.cert });
  await using security = await TlsServer.open({
    files: { kind: "folder", folder: folder.path },
    certificate: "request",
    onProblem() {},
    onRotated() {},
  });
  const spiffe = "spiffe://example.org/edge/fra";
  await using bench = await Bench.start({
    naming: {
      tokens: () => new TokenIndex([["edge-a", "secret"]]),
      unproven: false,
      from: [
        { source: "spiffe://example.org/edge/*", namespaces: ["shop"] },
        { source: "*.edge.example", namespaces: ["edge"] },
        { source: "edge-a", namespaces: [] },
      ],
    },
  });
  await using listener = await listen({ host: "127.0.0.1", port: 0 }, bench.serving.server, {
    now,
    secure: security.secure,
  });
  const dial = async (names: string | undefined, headers: Readonly<Record<string, string>>) => {
    const pair = names === undefined ? undefined : await authority.issue({ names });
    using caller = new SecureCaller(listener.address.port, authority.cert, pair);
    await using source = new RawSource(0, headers, caller);
    if (source.call.status === undefined) {
      await Promise.race([source.hears(`? ${ENTRIES}`), source.call.ended()]);
    }
    return source.call.status;
  };
  const lure = { "x-pinnace-instance": "edge-b" };
  const bearer = { ...lure, authorization: "Bearer secret" };
  assertEquals(await dial(`URI:${spiffe}, DNS:fra.edge.example`, bearer), undefined);
  assertEquals(await dial("DNS:fra.edge.example", bearer), undefined);
  assertEquals(await dial(undefined, bearer), undefined);
  const nobody = await dial(undefined, lure);
  assertEquals(nobody?.code, 16);
  const stranger = await dial("URI:spiffe://example.org/other", bearer);
  assertEquals(stranger?.code, 7);
  assertMatch(stranger!.details, /^spiffe:\/\/example\.org\/other: .*receive\.from/);
  assertEquals(
    bench.connected.map(({ name, namedBy, namespaces }) => [name, namedBy, namespaces]),
    [
      [spiffe, "uri", ["shop"]],
      ["fra.edge.example", "dns", ["edge"]],
      ["edge-a", "token", []],
    ],
  );
});
