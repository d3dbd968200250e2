/**
 * Connections that can be given up while nobody answers.
 *
 * @module
 */
import net from "node:net";
import { systemLookUps } from "./shared_look_ups.ts";

/** How long a connection may be silent before the system asks whether the other end is still there. Milliseconds. */
const SILENT = 30_000;

/**
 * Connects. The system looks after the connection while it is silent: else one whose path has gone, and
 * on which nothing is to be sent, would stay for ever. Rejects with the system's error, or with the
 * signal's reason; then nothing is left of it.
 */
export function connectTcp(address: net.NetConnectOpts, signal: AbortSignal): Promise<net.Socket> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ ...address, lookup });
    const abort = () => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.on("error", reject); // stays: one that comes before anybody else listens would be uncaught
    socket.once("close", () => reject(new Error("the connection was closed at once")));
    socket.once("connect", () => {
      signal.removeEventListener("abort", abort);
      socket.setKeepAlive(true, SILENT);
      resolve(socket);
    });
    socket.once("close", () => signal.removeEventListener("abort", abort));
  });
}

/** For the runtime, which would look names up without a bound. */
const lookup: net.LookupFunction = (host, { all, family }, callback) => {
  const answer = (found: readonly string[]) => {
    const addresses = found.map((address) => ({ address, family: net.isIP(address) }))
      .filter((one) => !family || one.family === Number(String(family).replace("IPv", "")));
    const [first] = addresses;
    if (first === undefined) callback(new Error(`no address is behind ${host}`), "", 0);
    else if (all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
  systemLookUps.find(host).then(answer, (error) => callback(error, "", 0));
};
