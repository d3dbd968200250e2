/** What the probe shows to whom it dials, with the permissions that the program has. */
import { assertEquals, assertMatch } from "@std/assert";
import { TlsServer } from "../../lib/transport/tls_server.ts";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { TestProxy } from "../transport/proxies.ts";
import { pinnace } from "./command.ts";
import { badServer, ProbedServer } from "./probed_server.ts";

const KIND = ["--collection", "ServiceEntry", "--format", "names"];

Deno.test("probe: TLS, mutual TLS, and each way in which it can fail", async (t) => {
  await using authority = await Authority.create("Test Authority");
  const server = await authority.issue({ names: "IP:127.0.0.1" });
  const client = await authority.issue({ names: "URI:spiffe://example.org/probe" });
  await using own = await (await TempFolder.create()).writeTls({ ...client, ca: authority.cert });
  const ca = ["--ca", `${own.path}/ca.crt`];
  const identity = ["--cert", `${own.path}/tls.crt`, "--key", `${own.path}/tls.key`];

  for (const mutual of [false, true]) {
    const material = { ...server, ...(mutual ? { ca: authority.cert } : {}) };
    await using files = await (await TempFolder.create()).writeTls(material);
    await using security = await TlsServer.open({
      files: { kind: "folder", folder: files.path },
    });
    await using serving = await ProbedServer.start({ secure: security.secure });
    serving.publish({ "default/orders": "orders.example" });
    const probe = (...options: string[]) => pinnace("probe", serving.address, ...KIND, ...options);
    const served = { code: 0, stdout: "ServiceEntry/default/orders\n", stderr: "" };
    const refused = async (options: string[], why: RegExp) => {
      const { code, stdout, stderr } = await probe(...options);
      assertEquals([code, stdout], [1, ""]);
      assertMatch(stderr, why);
    };
    await t.step(mutual ? "mutual TLS" : "TLS", async () => {
      assertEquals(await probe(...ca, ...(mutual ? identity : [])), served);
    });
    if (mutual) {
      await t.step("mutual TLS without a certificate", async () => {
        await refused(ca, /a client certificate/);
      });
      continue;
    }
    await t.step("an authority that the system does not know", async () => {
      await refused(["--tls"], /signed by an authority that this system does not know/);
    });
    await t.step("another name", async () => {
      await refused([...ca, "--server-name", "hub.example"], /not for hub\.example/);
    });
    await t.step("plaintext where TLS is spoken", async () => {
      await refused(["--timeout", "5s"], /^error: 127\.0\.0\.1:\d+/);
    });
    await t.step("a file that is not there", async () => {
      await refused(["--ca", "/no/such.crt"], /\/no\/such\.crt (does not exist|is not there)/);
    });
  }
});

Deno.test("probe: headers and a token go along, through a proxy where one is named", async () => {
  const seen: (string | undefined)[] = [];
  await using server = await badServer((stream) => {
    seen.push(stream.metadata["x-site"]?.[0], stream.metadata["authorization"]?.[0]);
    stream.end({ code: "PERMISSION_DENIED", message: "you may not" });
  });
  await using folder = await TempFolder.create();
  await Deno.writeTextFile(`${folder.path}/token`, "secret-token\n");
  await using proxy = await TestProxy.start();
  const { code, stderr } = await pinnace(
    ...["probe", server.address, ...KIND, "--header", "x-site=fra"],
    ...["--token-file", `${folder.path}/token`, "--proxy", `http://127.0.0.1:${proxy.port}`],
  );
  assertEquals(code, 1);
  assertMatch(stderr, /PERMISSION_DENIED: you may not/);
  assertEquals(seen, ["fra", "Bearer secret-token"]);
  assertEquals(proxy.heads.length > 0, true);
});
