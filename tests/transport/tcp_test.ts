import { assert, assertEquals, assertRejects } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import { connectTcp } from "../../lib/transport/tcp.ts";
import { until } from "./sockets.ts";

/** A port, and the connections that came in. */
async function open(): Promise<{ port: number; sockets: net.Socket[]; server: net.Server }> {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => void sockets.push(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as net.AddressInfo).port, sockets, server };
}

Deno.test("tcp: an attempt that is given up leaves nothing, one that succeeded is no more the signal's", async () => {
  const { port, sockets, server } = await open();
  const abort = new AbortController();
  const address = { host: "127.0.0.1", port };
  const socket = await connectTcp(address, abort.signal);
  const attempt = connectTcp(address, abort.signal);
  abort.abort(new Error("enough"));
  await assertRejects(() => attempt, Error, "enough");
  await assertRejects(() => connectTcp(address, abort.signal), Error, "enough");
  assertEquals(socket.destroyed, false);
  socket.destroy();
  await until(() => sockets.every((one) => one.destroyed || one.readableEnded), "nothing is left");
  for (const one of sockets) one.destroy();
  server.close();
});

Deno.test("tcp: a port where nobody listens is the system's error", async () => {
  const { port, server } = await open();
  server.close();
  await once(server, "close");
  const address = { host: "127.0.0.1", port };
  await assertRejects(
    () => connectTcp(address, new AbortController().signal),
    Error,
    "ECONNREFUSED",
  );
});

/** The kernel's own table of connections, which the runtime itself may not read. */
async function tcpTable(): Promise<string[]> {
  const { stdout } = await new Deno.Command("cat", { args: ["/proc/net/tcp"] }).output();
  return new TextDecoder().decode(stdout).split("\n");
}

Deno.test({
  name: "tcp: the system looks after a connection while it is silent",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { port, sockets, server } = await open();
    const signal = new AbortController().signal;
    const socket = await connectTcp({ host: "127.0.0.1", port }, signal);
    const [from, to] = [socket.localPort!, port].map((one) =>
      `0100007F:${one.toString(16).toUpperCase().padStart(4, "0")}`
    );
    const line = (await tcpTable()).find((one) => one.includes(`${from} ${to}`))!;
    // The column `tr`: 02 is the timer of keepalive; `tm->when`: hundredths of a second.
    const [, timer, left] = / (\d\d):([\dA-F]{8}) /.exec(line.slice(line.indexOf(`${to}`) + 30))!;
    assertEquals(timer, "02");
    assert(parseInt(left!, 16) <= 30_00);
    socket.destroy();
    await until(() => sockets.length === 1, "it came in");
    sockets[0]!.destroy();
    server.close();
  },
});
