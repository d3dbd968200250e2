/**
 * `pinnace status`: what a running Pinnace serves to whom, and what there is to see to.
 *
 * @module
 */
import { type Status, statusSchema } from "../admin/status.ts";
import { AdminError, type AdminOptions, askAdmin } from "./admin_client.ts";
import { EXIT } from "./exit.ts";
import { safeJson } from "./safe_json.ts";
import { statusLines } from "./status_table.ts";
import { type Screen, screenOf, visible } from "./terminal.ts";
import { untilTold } from "./until_told.ts";
import { watchScreen } from "./watch_screen.ts";

/** Options of {@link status}. */
export interface StatusOptions extends AdminOptions {
  readonly format: "text" | "json";
  /** Whether to go on until told to stop. */
  readonly watch: boolean;
  /** Whether each subscription gets a line. */
  readonly verbose: boolean;
}

/** How often a status that is watched is asked for. Milliseconds. */
const EVERY = 1000;

/** A push that waits longer for its answer is news. Milliseconds. */
const LATE = 10_000;

/** Prints the status; with `watch` again and again, until SIGINT or SIGTERM. 1 where none can be had. */
export async function status(options: StatusOptions): Promise<number> {
  using told = untilTold();
  const screens = { out: screenOf(Deno.stdout), err: screenOf(Deno.stderr) };
  return await statusUntil(options, screens, told.signal);
}

/** {@link status}, ended by a signal. */
export async function statusUntil(
  options: StatusOptions,
  { out, err }: { readonly out: Screen; readonly err: Screen },
  signal: AbortSignal,
): Promise<number> {
  let first: Status;
  try {
    first = await askStatus(options, signal);
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    await err.write(`error: ${error.message.split("\n").map(visible).join("\n")}\n`);
    return EXIT.failure;
  }
  if (options.watch) {
    const redraw = options.format === "text";
    await watchScreen(out, {
      every: EVERY,
      signal,
      redraw,
      frames: frames(first, options, out, signal),
    });
  } else await out.write(shown(first, options, out));
  return EXIT.ok;
}

/** What there is to show at each turn. */
function frames(first: Status, options: StatusOptions, screen: Screen, signal: AbortSignal) {
  let known: Status | undefined = first;
  return async () => {
    try {
      const now = known ?? await askStatus(options, signal);
      known = undefined;
      return { text: shown(now, options, screen), essence: essenceOf(now) };
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      const text = options.format === "json"
        ? `${safeJson({ error: error.message })}\n`
        : `error: ${visible(error.message)}\n`;
      return { text, essence: error.message };
    }
  };
}

function shown(status: Status, options: StatusOptions, screen: Screen): string {
  if (options.format === "json") {
    return `${safeJson(status, options.watch ? 0 : 2)}\n`;
  }
  const { columns: width, rows } = screen.size() ?? {};
  const lines = statusLines(status, {
    now: Date.now(),
    colours: screen.colours,
    verbose: options.verbose,
    ...(width === undefined ? {} : { width }),
    ...(rows === undefined || !options.watch ? {} : { rows }),
  });
  return `${lines.join("\n")}\n`;
}

/** What of a status is news when it changes: ages, bytes and attempts pass by themselves. */
function essenceOf(status: Status): string {
  const peers = status.peers.map(({ bytesSent: _, oldestUnackedMs = 0, ...rest }) => ({
    ...rest,
    isLate: oldestUnackedMs > LATE,
  }));
  const sinks = status.sinks.map(({ links, ...rest }) => ({
    ...rest,
    links: links.map(({ address, state, lastError }) => [address, state === "up", lastError]),
  }));
  return JSON.stringify({ ...status, peers, sinks });
}

async function askStatus(options: AdminOptions, signal: AbortSignal): Promise<Status> {
  const answer = statusSchema.safeParse(await askAdmin(options, "/api/v1/status", { signal }));
  if (answer.success) return answer.data;
  const [issue] = answer.error.issues;
  throw new AdminError(
    `what answers is no Pinnace of this version: its status has no proper ${issue?.path.join(".")}`,
  );
}
