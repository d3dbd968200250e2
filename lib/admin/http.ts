/**
 * The admin listener: health, metrics, status, and the few actions that a person has to take.
 *
 * @module
 */
import { type Context, Hono, type Next } from "hono";
import { formatHostPort } from "../model/host_port.ts";
import { isLoopback } from "../model/loopback.ts";
import type { ChangeEvent, EventQuery } from "./events.ts";
import type { Health } from "./health.ts";
import type { Status } from "./status.ts";
import { type AdminToken, bears, TOKEN_FILE } from "./token.ts";

/** A stored snapshot, as listed. */
export interface ListedSnapshot {
  readonly id: string;
  /** RFC 3339. */
  readonly savedAt: string;
  readonly sequence: number;
  readonly resources: number;
  readonly published: boolean;
}

/** What the listener shows and does. */
export interface AdminSources {
  readonly health: () => Health;
  readonly ready: () => Health;
  readonly metrics: () => Promise<string>;
  readonly status: () => Status;
  /** What was published, newest first. */
  readonly events: (query: EventQuery) => readonly ChangeEvent[];
  readonly snapshots: () => Promise<readonly ListedSnapshot[]>;
  readonly confirm: (
    id: string,
  ) => { readonly ok: true } | { readonly ok: false; readonly message: string };
}

/** How the listener is opened. */
export interface AdminOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Where there is none, whatever needs it is refused, with the reason. */
  readonly token: AdminToken;
  readonly sources: AdminSources;
}

/** An open admin listener. */
export interface AdminServer extends AsyncDisposable {
  /** `host:port`, as bound. */
  readonly address: string;
}

/** The admin listener cannot be opened. `cause` is the system's error. */
export class AdminListenError extends Error {
  override readonly name = "AdminListenError";
}

/** How long answers under way may take when the listener closes. Milliseconds. */
const DRAIN = 1000;

/** How long an answer that the runtime calls complete may take to be on the wire. Milliseconds. */
const FLUSH = 100;

/** Opens the admin listener. Throws {@link AdminListenError}. Disposing it takes little more than a second at most, whatever clients do. */
export function openAdmin(options: AdminOptions): AdminServer {
  const { host, port } = options;
  const app = adminApp(options);
  const closing = new AbortController();
  const answering = new Set<Promise<void>>();
  let stopping = false;
  const handler: Deno.ServeHandler<Deno.NetAddr> = (request, { completed }) => {
    if (stopping) return Response.json({ error: "Pinnace is stopping" }, { status: 503 });
    const done = completed.catch(() => {}).finally(() => answering.delete(done));
    answering.add(done);
    return app.fetch(request);
  };
  const server = serve({ host, port, signal: closing.signal }, handler);
  const { addr } = server;
  return {
    address: formatHostPort(addr.hostname, addr.port),
    async [Symbol.asyncDispose]() {
      stopping = true;
      // A client may leave an answer unread or a request unfinished for as long as it likes, and
      // `shutdown` would wait for it; what is under way gets a moment, then all is closed.
      await within(DRAIN, Promise.all(answering));
      await within(FLUSH);
      closing.abort();
      await server.finished;
    },
  };
}

function serve(
  { host, port, signal }: { host: string; port: number; signal: AbortSignal },
  handler: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ hostname: host, port, signal, onListen: () => {} }, handler);
  } catch (cause) {
    const why = cause instanceof Deno.errors.AddrInUse
      ? "the port is already in use"
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new AdminListenError(`cannot listen on ${formatHostPort(host, port)}: ${why}`, { cause });
  }
}

/** Waits so many milliseconds, or less where a promise settles before. */
async function within(ms: number, promise?: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([over, ...(promise === undefined ? [] : [promise])]);
  clearTimeout(timer);
}

const PATHS = [
  "/healthz",
  "/readyz",
  "/metrics",
  "/api/v1/status",
  "/api/v1/peers",
  "/api/v1/findings",
  "/api/v1/events?after=SEQ&limit=N",
  "/api/v1/snapshots",
  "POST /api/v1/snapshots/ID/confirm",
];

/** The application alone, for tests. No request's body is ever read, so none needs a bound. */
export function adminApp({ host, token, sources }: AdminOptions): Hono {
  const app = new Hono();
  const report = (context: Context, health: Health) =>
    health.ok ? context.text("ok\n") : context.text(`${health.reason}\n`, 503);
  app.get("/healthz", (context) => report(context, sources.health()));
  app.get("/readyz", (context) => report(context, sources.ready()));
  app.get("/", (context) => context.text(`${PATHS.join("\n")}\n`));
  app.use(guard(isLoopback(host), token));
  app.get(
    "/metrics",
    async (context) =>
      context.text(await sources.metrics(), 200, { "content-type": "text/plain; version=0.0.4" }),
  );
  app.get("/api/v1/status", (context) => context.json(sources.status()));
  app.get("/api/v1/peers", (context) => context.json({ peers: sources.status().peers }));
  app.get("/api/v1/findings", (context) => context.json({ findings: sources.status().findings }));
  app.get("/api/v1/events", (context) => {
    const query = readQuery(context.req.query());
    if (typeof query === "string") return context.json({ error: query }, 400);
    return context.json({ events: sources.events(query) });
  });
  app.get("/api/v1/snapshots", async (context) => {
    const { held, sources: all } = sources.status();
    const heldSources = all.flatMap(({ name, held }) => held ? [{ source: name, ...held }] : []);
    const waiting = { ...(held && { held }), heldSources };
    return context.json({ snapshots: await sources.snapshots(), ...waiting });
  });
  app.post("/api/v1/snapshots/:id/confirm", (context) => {
    const confirmed = sources.confirm(context.req.param("id"));
    return confirmed.ok
      ? context.json({ ok: true })
      : context.json({ error: confirmed.message }, 409);
  });
  app.notFound((context) => context.json({ error: `there is only ${PATHS.join(", ")}` }, 404));
  app.onError((error, context) => context.json({ error: error.message }, 500));
  return app;
}

/** What is asked for, or what is wrong with the question. */
function readQuery(given: Readonly<Record<string, string>>): EventQuery | string {
  const query: { after?: number; limit?: number } = {};
  for (const [key, text] of Object.entries(given)) {
    if (key !== "after" && key !== "limit") return `there is no ${key}; there are after and limit`;
    if (!/^\d{1,15}$/.test(text)) return `${key} is a whole number, for example ${key}=10`;
    query[key] = Number(text);
  }
  return query;
}

/** Reads on loopback are free to whoever speaks to loopback by its name; all else needs the token. */
function guard(onLoopback: boolean, token: AdminToken) {
  return async (context: Context, next: Next): Promise<Response | void> => {
    const isRead = context.req.method === "GET" || context.req.method === "HEAD";
    const named = hostOf(context.req.header("host") ?? new URL(context.req.url).host);
    // A page in somebody's browser can reach loopback under a name of its own (DNS rebinding).
    const isForeign = onLoopback && !isLoopback(named);
    if (onLoopback && isRead && !isForeign) return await next();
    if (token.kind === "none") {
      return context.json({ error: `this needs the admin token: ${token.reason}` }, 403);
    }
    if (bears(context.req.header("authorization"), token.text)) return await next();
    const way = isForeign && isRead ? ", or a loopback address or localhost as the host asked" : "";
    const error =
      `this needs \`authorization: Bearer\` with the token in <store>/${TOKEN_FILE}${way}`;
    return context.json({ error }, 401);
  };
}

function hostOf(header: string): string {
  return header.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}
