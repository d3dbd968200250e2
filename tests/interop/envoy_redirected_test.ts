/** Connections that are redirected to a real Envoy go where they were meant to go, or to the service whose address that is. */
import { assertEquals, assertRejects } from "@std/assert";
import { resourcesOf, viewOfText } from "../view/envoy/envoy_world.ts";
import { binary, interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { sendOne } from "./lib/load.ts";
import { Process } from "./lib/process.ts";
import { RedirectedNetwork } from "./lib/redirected_network.ts";
import { inline } from "./lib/static_envoy.ts";
import { callStream } from "./lib/upstreams.ts";

const OFFSET = 10000;
const [PLAIN, MOVED, MOVED_TO, WEB] = [5432, 5433, 6543, 80] as const;

/** A program that sends back what comes on some ports of every address, the address and port first; on another it answers HTTP. */
const UPSTREAM = `
for (const port of [${PLAIN}, ${MOVED}, ${MOVED_TO}]) serve(Deno.listen({ hostname: "0.0.0.0", port }));
Deno.serve({ hostname: "0.0.0.0", port: ${WEB} }, (_, { addr }) => new Response("", { headers: { "x-who": "web" } }));
async function serve(listener) {
  for await (const conn of listener) talk(conn).catch(() => {});
}
async function talk(conn) {
  const { hostname, port } = conn.localAddr;
  await conn.write(new TextEncoder().encode(hostname + ":" + port + "\\n"));
  await conn.readable.pipeTo(conn.writable);
}
`;

/** Four ways to be redirected: to an address of a range, with another port, by address to endpoints, by host. */
function services(base: string, bind: string, range: string): string {
  return `
envoy: { bind: ${bind}, portOffset: ${OFFSET} }
services:
  - name: net
    addresses: [${range}]
    resolution: NONE
    ports: [${PLAIN}/TCP, "${MOVED}:${MOVED_TO}/TCP"]
  - name: db
    addresses: [${base}.250]
    ports: [${PLAIN}/TCP]
    endpoints: [${base}.251]
  - name: any
    hosts: ["*.example.com"]
    resolution: NONE
    ports: [${WEB}/HTTP]
`;
}

interopTest(
  "envoy: what is redirected goes where it was meant to go, or to the endpoints of whose address it is",
  [ENVOY],
  async () => {
    await using network = await RedirectedNetwork.open([PLAIN, MOVED, WEB], OFFSET);
    const { inside, range, prefix } = network;
    const base = inside.slice(0, inside.lastIndexOf("."));
    await using upstream = Process.start({
      name: "upstream",
      command: "ip",
      args: [...prefix, Deno.execPath(), "eval", UPSTREAM],
    });
    const bootstrap = inline(resourcesOf(viewOfText(services(base, inside, range))));
    await using envoy = Process.start({
      name: "envoy",
      command: "ip",
      args: [
        ...[...prefix, binary(ENVOY), "--config-yaml", JSON.stringify(bootstrap)],
        ...["--disable-hot-restart", "--concurrency", "1", "--log-level", "info"],
      ],
    });
    const call = (host: number, port: number) => callStream({ at: `${base}.${host}:${port}` });
    await upstream.expect("it is reached through Envoy", async () => {
      if (envoy.ended !== undefined) throw new Error(envoy.describe());
      return await call(249, PLAIN);
    });
    assertEquals(await call(249, PLAIN), `${base}.249:${PLAIN}`);
    assertEquals(await call(252, PLAIN), `${base}.252:${PLAIN}`);
    assertEquals(await call(249, MOVED), `${base}.249:${MOVED_TO}`);
    assertEquals(await call(250, PLAIN), `${base}.251:${PLAIN}`);
    const web = (host: string) => sendOne({ url: `http://${base}.249:${WEB}/`, host });
    assertEquals(await web("some.example.com"), "web");
    await assertRejects(() => web("some.example.org"), Error, "404");
  },
);
