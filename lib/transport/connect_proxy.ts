/**
 * HTTP CONNECT: asks a proxy for a connection to somebody else.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { formatHostPort } from "../model/host_port.ts";
import { presentable } from "./grpc_bytes.ts";
import { untilAborted } from "./until_aborted.ts";

/** A proxy. */
export interface Proxy {
  /** Name or IP address. */
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`, for example {@link basicAuthorization}. */
  readonly authorization?: string;
}

/** The proxy gave no connection. The message says why, as far as the proxy does. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
}

/** The largest head of an answer that is read. Bytes. */
const LARGEST_HEAD = 8192;

/** The value of `Proxy-Authorization` for a user and a password. */
export function basicAuthorization(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * Asks for a connection to `to` over a connection to the proxy. When it resolves, what is read from
 * the socket comes from there; nothing that came right behind the proxy's answer is lost. Rejects with
 * a {@link ProxyError}, or with the signal's reason; then the socket is destroyed.
 */
export async function connectThrough(
  socket: Socket,
  to: { readonly host: string; readonly port: number },
  { authorization }: Pick<Proxy, "authorization">,
  signal: AbortSignal,
): Promise<void> {
  const at = formatHostPort(to.host, to.port);
  const lines = [
    `CONNECT ${at} HTTP/1.1`,
    `Host: ${at}`,
    ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  try {
    const { head, rest } = await untilAborted(readHead(socket), signal);
    judge(head, authorization !== undefined);
    if (rest.length > 0) socket.unshift(rest);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Reads up to the empty line. The socket is left paused, with nobody listening. */
function readHead(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let seen: Buffer | undefined;
    const settle = (act: () => void) => {
      socket.off("data", take).off("end", over).off("close", over).off("error", fail);
      socket.pause();
      act();
    };
    const take = (chunk: Buffer) => {
      seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
      const end = seen.indexOf("\r\n\r\n");
      if (end >= 0 && end <= LARGEST_HEAD) {
        const [head, rest] = [seen.toString("latin1", 0, end), seen.subarray(end + 4)];
        return settle(() => resolve({ head, rest }));
      }
      if (!couldBeHttp(seen)) settle(() => reject(notHttp()));
      else if (seen.length > LARGEST_HEAD) {
        const message = `the head of the proxy's answer is larger than ${LARGEST_HEAD} bytes`;
        settle(() => reject(new ProxyError(message)));
      }
    };
    const over = () =>
      settle(() => reject(new ProxyError("the proxy closed the connection without an answer")));
    const fail = (error: Error) =>
      settle(() => reject(new ProxyError(`the connection to the proxy failed: ${error.message}`)));
    socket.on("data", take).once("end", over).once("close", over).once("error", fail);
    socket.resume();
  });
}

function judge(head: string, named: boolean): void {
  const status = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(head.split("\r\n", 1)[0]!);
  if (status === null) throw notHttp();
  const [, code, reason = ""] = status;
  if (code!.startsWith("2")) return;
  const refusal = `the proxy refused: ${presentable(`${code} ${reason}`.trim())}`;
  throw new ProxyError(code === "407" ? `${refusal}; ${named ? WRONG : NOBODY}` : refusal);
}

const NOBODY = "give it a user and a password: http://USER:PASSWORD@PROXY";

const WRONG =
  "the user or the password given to it is wrong, or it wants them otherwise than Basic";

function couldBeHttp(seen: Buffer): boolean {
  const start = "HTTP/1.";
  return seen.toString("latin1", 0, start.length) === start.slice(0, seen.length);
}

function notHttp(): ProxyError {
  return new ProxyError("what answers is no HTTP proxy");
}
