import { assertEquals, assertRejects } from "@std/assert";
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
