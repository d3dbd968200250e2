/**
 * `pinnace probe`: asks any server what it serves, and prints what comes.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import { DialError } from "../transport/dial.ts";
import { dialTarget } from "../transport/dial_target.ts";
import { EXIT } from "./exit.ts";
import { probeClient } from "./probe_client.ts";
import type { ProbeOptions } from "./probe_options.ts";
import { printPush } from "./probe_print.ts";
import { type ProbeNews, Probing } from "./probing.ts";
import { Progress } from "./progress.ts";
import { duration, type Screen, screenOf, visible } from "./terminal.ts";
import { untilTold } from "./until_told.ts";

/** Where the probe writes. */
export interface ProbeScreens {
  readonly out: Screen;
  readonly err: Screen;
}

/**
 * Probes, and prints each push. 0 when every type was answered; with `follow` it stays until SIGINT or
 * SIGTERM. 1, with the reason, where the server is not reached, does not answer in time, or ends the
 * stream. Where nobody reads any more, as behind `head`, it ends, and that is no failure.
 */
export async function probe(
  options: ProbeOptions,
  screens: ProbeScreens = { out: screenOf(Deno.stdout), err: screenOf(Deno.stderr) },
): Promise<number> {
  using told = untilTold();
  return await probeUntil(options, screens, told.signal);
}

/** {@link probe}, ended by a signal. */
export async function probeUntil(
  options: ProbeOptions,
  { out, err }: ProbeScreens,
  signal: AbortSignal,
): Promise<number> {
  const began = performance.now();
  const after = () => performance.now() - began;
  const progress = new Progress(err);
  const writer = new Writer();
  const tell = (news: ProbeNews) => {
    if (news.kind === "progress") {
      return writer.add(() => Promise.resolve(progress.show(news.text)));
    }
    const at = after();
    writer.add(async () => {
      await progress.clear();
      if (news.kind === "push") {
        await out.write(printPush({ ...news, after: at }, options.format, out.colours));
      } else await err.write(`${visible(news.message)}\n`);
    });
  };
  const end = await run(options, tell, AbortSignal.any([signal, out.gone]));
  await writer.idle();
  await progress.clear();
  if (out.gone.aborted) return EXIT.ok;
  if (end.kind === "answered") {
    if (options.format === "text") {
      const types = `${end.types} type${end.types === 1 ? "" : "s"}`;
      await err.write(`${types} answered in ${duration(after())}\n`);
    }
    return EXIT.ok;
  }
  if (end.kind === "told") return EXIT.ok;
  await err.write(`error: ${visible(end.message)}\n`);
  return EXIT.failure;
}

/** How a probe ends. */
type End =
  | { readonly kind: "answered"; readonly types: number }
  /** We were told to stop, with nothing left to wait for. */
  | { readonly kind: "told" }
  | { readonly kind: "failed"; readonly message: string };

async function run(
  options: ProbeOptions,
  tell: (news: ProbeNews) => void,
  signal: AbortSignal,
): Promise<End> {
  const { target, timeout, maxMessage } = options;
  const at = formatHostPort(target.host, target.port);
  const client = probeClient(options);
  const attempt = new AbortController();
  const late = setTimeout(
    () => attempt.abort(new DialError(`no connection within ${duration(timeout)}`)),
    timeout,
  );
  const began = performance.now();
  tell({ kind: "progress", text: `connecting to ${at}` });
  let probing: Probing;
  try {
    const stream = await dialTarget(target, {}, client.path, {
      signal: AbortSignal.any([signal, attempt.signal]),
      now: () => performance.now(),
      maxReceive: maxMessage,
    });
    probing = new Probing(stream, client, options, tell);
  } catch (error) {
    if (signal.aborted) return { kind: "failed", message: "stopped before there was an answer" };
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message: `${at} is not reached: ${why}` };
  } finally {
    clearTimeout(late);
  }
  await using _ = probing;
  const left = Math.max(0, timeout - (performance.now() - began));
  const end = await probing.run(left, signal);
  return end.kind === "failed" ? { ...end, message: `${at}: ${end.message}` } : end;
}

/** Writes one thing after the other, later than now: laying out a large push may take seconds, and its answer goes first. */
class Writer {
  #last: Promise<void> = Promise.resolve();

  add(write: () => Promise<void>): void {
    const later = () => new Promise((resolve) => setTimeout(resolve));
    this.#last = this.#last.then(later).then(write);
  }

  async idle(): Promise<void> {
    await this.#last;
  }
}
