/**
 * The place that reaches into the runtime: its TLS reads on from the connection below while it is
 * paused, without bound (Deno 2.9.6). Here pausing stops that, too. A test fails when it does not.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

interface Handle {
  readStop?(): unknown;
  readStart?(): unknown;
}

/** Makes pausing `secured` stop reading from `raw`, the connection below it, and resuming go on. */
export function holdBack(secured: TLSSocket, raw: Socket): void {
  const handle = () => (raw as { readonly _handle?: Handle | null })._handle; // null once it is closed
  const [pause, resume] = [secured.pause.bind(secured), secured.resume.bind(secured)];
  let stopped = false;
  secured.pause = () => {
    if (!stopped) handle()?.readStop?.();
    stopped = true;
    return pause();
  };
  secured.resume = () => {
    if (stopped) handle()?.readStart?.();
    stopped = false;
    return resume();
  };
}
