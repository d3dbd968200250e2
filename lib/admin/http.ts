/**
 * The admin listener: health, metrics, status, and the few actions that a person has to take.
 *
 * @module
 */
import { type Context, Hono, type Next } from "hono";
import ipaddr from "ipaddr.js";
import type { Health } from "./health.ts";
import type { Status } from "./status.ts";
import { bears } from "./token.ts";

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
  /** Absent: there is none, so whatever needs it is refused. */
  readonly token: string | undefined;
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

/** Opens the admin listener. Throws {@link AdminListenError}. */
export function openAdmin(options: AdminOptions): AdminServer {
  const { host, port } = options;
  const app = adminApp(options);
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    const place = { hostname: host, port, onListen: () => {} };
    server = Deno.serve(place, (request) => app.fetch(request));
  } catch (cause) {
    const why = cause instanceof Deno.errors.AddrInUse
      ? "the port is already in use"
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new AdminListenError(`cannot listen on ${written(host, port)}: ${why}`, { cause });
  }
  const { addr } = server;
  return {
    address: written(addr.hostname, addr.port),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const PATHS = [
  "/healthz",
  "/readyz",
  "/metrics",
  "/api/v1/status",
  "/api/v1/peers",
  "/api/v1/findings",
  "/api/v1/snapshots",
  "POST /api/v1/snapshots/ID/confirm",
];

/** The application alone, for tests. */
export function adminApp({ host, token, sources }: AdminOptions): Hono {
  const app = new Hono();
  const report = (context: Context, health: Health) =>
    health.ok ? context.text("ok\n") : context.text(`${health.reason}\n`, 503);
  app.get("/healthz", (context) => report(context, sources.health()));
  app.get("/readyz", (context) => report(context, sources.ready()));
  app.use(guard(isLoopback(host), token));
  app.get(
    "/metrics",
    async (context) =>
      context.text(await sources.metrics(), 200, { "content-type": "text/plain; version=0.0.4" }),
  );
  app.get("/api/v1/status", (context) => context.json(sources.status()));
  app.get("/api/v1/peers", (context) => context.json({ peers: sources.status().peers }));
  app.get("/api/v1/findings", (context) => context.json({ findings: sources.status().findings }));
  app.get("/api/v1/snapshots", async (context) => {
    const { held } = sources.status();
    return context.json({ snapshots: await sources.snapshots(), ...(held && { held }) });
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

/** Reads on loopback are free to whoever speaks to loopback by its name; all else needs the token. */
function guard(onLoopback: boolean, token: string | undefined) {
  return async (context: Context, next: Next): Promise<Response | void> => {
    const isRead = context.req.method === "GET" || context.req.method === "HEAD";
    const named = hostOf(context.req.header("host") ?? new URL(context.req.url).host);
    // A page in somebody's browser can reach loopback under a name of its own (DNS rebinding).
    if (onLoopback && isRead && isLoopback(named)) return await next();
    if (token === undefined) {
      return context.json(
        { error: "this needs the token of a store in a folder; there is none" },
        403,
      );
    }
    if (bears(context.req.header("authorization"), token)) return await next();
    const error = "this needs `authorization: Bearer` with the token in <store>/admin.token";
    return context.json({ error }, 401);
  };
}

function hostOf(header: string): string {
  return header.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

function written(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
