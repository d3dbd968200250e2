/** Ports that others can dial and that protect less than they could: meant, and said at each start. */
import { assertEquals, assertMatch } from "@std/assert";
import { freePorts } from "../interop/lib/ports.ts";
import { Process } from "../interop/lib/process.ts";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { Running, sourceLaunch } from "./running.ts";

/** This machine's, but not to us: any name but localhost counts as elsewhere. */
const ELSEWHERE = "127.1";

const SERVICE = "services:\n  - name: orders\n    ports: [443/GRPC]\n    endpoints: [192.0.2.1]\n";

/** What is written, with an admin listener and a log that can be read. */
function configure({ config, admin }: Running, text: string): Promise<void> {
  const head = `admin: "${admin}"\nlog: { format: json }\n`;
  return Deno.writeTextFile(config, `${head}${text}\n${SERVICE}`);
}

/** What was warned of about the ports of this setting, with the port. */
function warnings({ process }: Running, setting: string): string[] {
  return process.objects
    .filter((line) => line.category === "listener" && line.level === "warn" && setting in line)
    .map((line) => `${line[setting]} ${line.msg}`.replace(/,.*/, ""));
}

Deno.test("exposed ports: plaintext and sources without proof are warned of at each start", async () => {
  await using authority = await Authority.create("test");
  await using tls = await TempFolder.create();
  await tls.writeTls({
    ...await authority.issue({ names: "DNS:hub.example" }),
    ca: authority.cert,
  });
  const [open, quiet, ...sources] = freePorts(4).map((port) => `${ELSEWHERE}:${port}`);
  const plain = `listen: [{ address: "${open}", insecure: true }, "${
    quiet!.replace(ELSEWHERE, "localhost")
  }"]`;
  await using running = await Running.prepare(await sourceLaunch());

  const both = [
    `${sources[0]} plaintext off loopback`,
    `${sources[0]} no source need prove who it is`,
  ];
  for (const _ of ["new", "with what is stored"]) {
    await configure(running, `${plain}\nreceive: { address: "${sources[0]}", insecure: true }`);
    await running.run();
    assertEquals(warnings(running, "listen"), [`${open} plaintext off loopback`]);
    assertEquals(warnings(running, "receive"), both);
    assertEquals((await running.end("SIGTERM")).code, 0);
  }

  const secure = `address: "${sources[1]}", tls: "${tls.path}"`;
  for (
    const [receive, warned] of [
      [`{ ${secure}, insecure: true }`, [`${sources[1]} no source need prove who it is`]],
      [`{ ${secure} }`, []],
    ] as const
  ) {
    await Deno.remove(running.store, { recursive: true }); // else its ports are opened first
    await configure(running, `listen: ["localhost:0"]\nreceive: ${receive}`);
    await running.run();
    assertEquals([warnings(running, "listen"), warnings(running, "receive")], [[], [...warned]]);
    assertEquals((await running.end("SIGTERM")).code, 0);
  }
});

Deno.test("exposed ports: what is stored opens no plaintext that is not meant, whatever variables say by now", async () => {
  const launch = await sourceLaunch();
  await using running = await Running.prepare({ ...launch, env: { HOST: "localhost" } });
  await configure(running, `listen: ["\${HOST}:0"]`);
  await running.run();
  assertEquals((await running.end("SIGTERM")).code, 0);

  const { command, args, cwd } = launch;
  await using moved = Process.start({
    name: "pinnace",
    command,
    args: [...args, "--config", running.config, "--store", running.store],
    cwd,
    env: { HOST: ELSEWHERE },
  });
  assertEquals((await moved.end()).code, 1);
  assertMatch(
    String(moved.objects.at(-1)?.msg),
    /^cannot listen on \$\{HOST\}:0: it is not loopback, .*`insecure: true`; `listen` in the configuration changes it$/,
  );
});
