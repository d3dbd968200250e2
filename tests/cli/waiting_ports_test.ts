/** Ports whose TLS files cannot be used when the program starts. */
import { assertEquals, assertMatch } from "@std/assert";
import { freePorts } from "../interop/lib/ports.ts";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { Running, sourceLaunch } from "./running.ts";

const SERVICE = "services:\n  - name: orders\n    ports: [443/GRPC]\n    endpoints: [192.0.2.1]\n";

function configure({ config, admin }: Running, listen: string): Promise<void> {
  const head = `admin: "${admin}"\nlog: { format: json }\nlisten: [${listen}]`;
  return Deno.writeTextFile(config, `${head}\n${SERVICE}`);
}

Deno.test("waiting ports: one without its files keeps nobody else from being served, and is opened once it has them", async () => {
  await using authority = await Authority.create("test");
  await using tls = await TempFolder.create();
  const [plain, secure] = freePorts(2).map((port) => `127.0.0.1:${port}`);
  await using running = await Running.prepare(await sourceLaunch());
  await configure(running, `"${plain}", { address: "${secure}", tls: "${tls.path}" }`);
  for (const _ of ["new", "with what is stored"]) {
    running.launch();
    await running.logged(/"serving MCP and ADS"/);
    const { status, text } = await running.get("/readyz");
    assertEquals(status, 503);
    assertMatch(text, new RegExp(`^cannot listen on ${secure} with TLS: .*tls.crt does not exist`));
    const { listen } = await running.status();
    assertEquals(
      listen.map(({ address, alive }: { address: string; alive: boolean }) => [address, alive]),
      [[plain, true], [secure, false]],
    );
    (await Deno.connect({ hostname: "127.0.0.1", port: Number(plain!.split(":")[1]) })).close();
    await running.logged(new RegExp(`"level":"error".*the port is not open.*${secure}`));
    if (_ === "new") assertEquals((await running.end("SIGTERM")).code, 0);
  }
  await tls.writeTls(await authority.issue({ names: "DNS:localhost" }));
  await running.logged(/the port is open now/);
  assertEquals((await running.get("/readyz")).status, 200);
  assertEquals((await running.end("SIGTERM")).code, 0);
});

Deno.test("waiting ports: where there is no other port and nobody is dialled the start fails and says why", async () => {
  await using running = await Running.prepare(await sourceLaunch());
  await configure(running, `{ address: "127.0.0.1:0", tls: "${running.folder}/none" }`);
  running.launch();
  assertEquals((await running.process.end()).code, 1);
  assertMatch(
    String(running.process.objects.at(-1)?.msg),
    /^cannot listen on 127\.0\.0\.1:0 with TLS: .*none does not exist; .*; `listen` in the configuration changes it$/,
  );
});
