import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { adminApp, AdminListenError, type AdminOptions, openAdmin } from "../../lib/admin/http.ts";
import { type EventQuery, eventsSchema } from "../../lib/admin/events.ts";
import type { Status } from "../../lib/admin/status.ts";
import { status } from "./statuses.ts";

const TOKEN = "t".repeat(64);

/** An admin application whose confirmations are written down. */
function bench(options: Partial<AdminOptions> = {}, shown: Status = status()) {
  const confirmed: string[] = [];
  const asked: EventQuery[] = [];
  const all: AdminOptions = {
    host: "127.0.0.1",
    port: 0,
    token: { kind: "token", text: TOKEN },
    sources: {
      health: () => ({ ok: true }),
      ready: () => ({ ok: false, reason: "there is nothing to serve yet" }),
      metrics: () => Promise.resolve("pinnace_build_info 1\n"),
      status: () => shown,
      events: (query) => {
        asked.push(query);
        return shown.events;
      },
      snapshots: () =>
        Promise.resolve([
          {
            id: "a",
            savedAt: "2026-01-01T00:00:00.000Z",
            sequence: 1,
            resources: 2,
            published: true,
          },
        ]),
      confirm: (id) => {
        confirmed.push(id);
        return id === "held" ? { ok: true } : { ok: false, message: "no snapshot waits" };
      },
    },
    ...options,
  };
  const app = adminApp(all);
  const ask = (path: string, init: RequestInit = {}, host = "127.0.0.1:15014") =>
    app.request(`http://${host}${path}`, { ...init, headers: { host, ...init.headers } });
  return { ask, asked, confirmed, options: all };
}

const bearer = { authorization: `Bearer ${TOKEN}` };

Deno.test("admin: health is 200, readiness 503 with the reason", async () => {
  const { ask } = bench();
  assertEquals((await ask("/healthz")).status, 200);
  const ready = await ask("/readyz");
  assertEquals([ready.status, await ready.text()], [503, "there is nothing to serve yet\n"]);
});

Deno.test("admin: on loopback, reads need no token", async () => {
  const { ask } = bench();
  for (const host of ["127.0.0.1:1", "localhost:1", "[::1]:1"]) {
    assertEquals((await ask("/api/v1/status", {}, host)).status, 200);
  }
  const metrics = await ask("/metrics");
  assertEquals(metrics.headers.get("content-type"), "text/plain; version=0.0.4");
  assertEquals(await metrics.text(), "pinnace_build_info 1\n");
});

Deno.test("admin: events are asked for by number, and a wrong question is said to be one", async () => {
  const { ask, asked } = bench();
  const answer = await ask("/api/v1/events?after=7&limit=3");
  assertEquals([answer.status, asked], [200, [{ after: 7, limit: 3 }]]);
  assertEquals(eventsSchema.parse(await answer.json()).events.length, 1);
  for (const query of ["after=x", "limit=-1", "limit=1e3", "since=1", "after="]) {
    const wrong = await ask(`/api/v1/events?${query}`);
    assertEquals([query, wrong.status], [query, 400]);
    assertMatch((await wrong.json()).error, /whole number|there is no since/);
  }
  assertEquals(asked.length, 1);
});

Deno.test("admin: a name that is not loopback's is refused on loopback (DNS rebinding)", async () => {
  const { ask } = bench();
  for (
    const host of ["evil.example", "evil.example:15014", "127.0.0.1.evil.example", "localhost.evil"]
  ) {
    for (const path of ["/api/v1/status", "/metrics", "/api/v1/snapshots"]) {
      const answer = await ask(path, {}, host);
      assertEquals([host, answer.status], [host, 401]);
      assertMatch((await answer.json()).error, /admin\.token, or .* localhost as the host asked/);
    }
  }
  assertEquals((await ask("/metrics", { headers: bearer }, "evil.example")).status, 200);
});

Deno.test("admin: off loopback everything needs the token, but for health", async () => {
  const { ask } = bench({ host: "0.0.0.0" });
  assertEquals((await ask("/healthz")).status, 200);
  for (const path of ["/metrics", "/api/v1/status", "/api/v1/snapshots"]) {
    assertEquals((await ask(path)).status, 401);
    assertEquals((await ask(path, { headers: { authorization: "Bearer wrong" } })).status, 401);
    assertEquals((await ask(path, { headers: bearer })).status, 200);
  }
});

Deno.test("admin: an action needs the token even on loopback", async () => {
  const { ask, confirmed } = bench();
  const path = "/api/v1/snapshots/held/confirm";
  assertEquals((await ask(path, { method: "POST" })).status, 401);
  assertEquals(confirmed, []);
  assertEquals((await ask(path, { method: "POST", headers: bearer })).status, 200);
  const none = await ask("/api/v1/snapshots/x/confirm", { method: "POST", headers: bearer });
  assertEquals([none.status, await none.json()], [409, { error: "no snapshot waits" }]);
  assertEquals(confirmed, ["held", "x"]);
});

Deno.test("admin: without a token there are no actions, and it is said why", async () => {
  const { ask } = bench({ token: { kind: "none", reason: "the disk is full" } });
  const answer = await ask("/api/v1/snapshots/held/confirm", { method: "POST", headers: bearer });
  assertEquals(answer.status, 403);
  assertEquals((await answer.json()).error, "this needs the admin token: the disk is full");
  assertEquals((await ask("/api/v1/status")).status, 200);
});

Deno.test("admin: snapshots are listed with the one that is held", async () => {
  const held = {
    id: "h",
    since: "2026-01-01T00:00:00.000Z",
    removes: 20,
    of: 30,
    message: "too much",
  };
  const { ask } = bench({}, { ...status(), held });
  const body = await (await ask("/api/v1/snapshots")).json();
  assertEquals([body.snapshots[0].id, body.held.id], ["a", "h"]);
  const [{ id, source }] = body.heldSources;
  assertEquals([id, source], ["h1", "spiffe://example.org/edge/fra"]);
});

Deno.test("admin: what is not there is answered with what is", async () => {
  const { ask } = bench();
  for (const path of ["/nope", "/api/v1/", "/metrics/"]) {
    const answer = await ask(path);
    assertEquals(answer.status, 404);
    assertStringIncludes((await answer.json()).error, "/api/v1/status");
  }
  const index = await (await ask("/")).text();
  for (const path of ["/healthz", "/readyz", "/metrics", "/api/v1/findings", "/api/v1/peers"]) {
    assertStringIncludes(index, `${path}\n`);
    assertEquals((await ask(path)).status, path === "/readyz" ? 503 : 200);
  }
});

Deno.test("admin: a port in use is an error that names the address", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const error = assertThrows(() => openAdmin({ ...bench().options, port }), AdminListenError);
  assertMatch(error.message, new RegExp(`127\\.0\\.0\\.1:${port}: the port is already in use`));
  await using open = openAdmin(bench().options);
  const answer = await fetch(`http://${open.address}/healthz`);
  assertEquals([answer.status, await answer.text()], [200, "ok\n"]);
});

Deno.test("admin: what fails inside is a 500 in JSON, and the next answer is fine", async () => {
  const sources = {
    ...bench().options.sources,
    snapshots: () => Promise.reject(new Error("the store cannot be read")),
  };
  const { ask } = bench({ sources });
  const answer = await ask("/api/v1/snapshots");
  assertEquals([answer.status, await answer.json()], [500, { error: "the store cannot be read" }]);
  assertEquals((await ask("/api/v1/status")).status, 200);
});

/** Sends text on a connection of its own, and waits until an answer begins where one is due. */
async function connect(address: string, text: string, answered = true): Promise<Deno.TcpConn> {
  const [hostname, port] = address.split(":");
  const connection = await Deno.connect({ hostname: hostname!, port: Number(port) });
  await connection.write(new TextEncoder().encode(text));
  if (answered) await connection.read(new Uint8Array(10));
  else await new Promise((resolve) => setTimeout(resolve, 50));
  return connection;
}

Deno.test("admin: no client can keep the listener from closing", async (t) => {
  const large: Status = { ...status(), version: "x".repeat(50_000_000) };
  const host = "host: localhost\r\n";
  const requests: Record<string, [string, boolean]> = {
    "half a request": ["GET /healthz HT", false],
    "half a body": [`POST /x HTTP/1.1\r\n${host}content-length: 1000\r\n\r\nabc`, true],
    "an answer left unread": [`GET /api/v1/status HTTP/1.1\r\n${host}\r\n`, true],
    "an answer that never comes": [`GET /metrics HTTP/1.1\r\n${host}\r\n`, false],
    "a connection kept alive": [`GET /healthz HTTP/1.1\r\n${host}\r\n`, true],
  };
  for (const [name, [text, answered]] of Object.entries(requests)) {
    await t.step(name, async () => {
      const { options } = bench({}, large);
      const sources = { ...options.sources, metrics: () => new Promise<string>(() => {}) };
      const admin = openAdmin({ ...options, sources });
      using _ = await connect(admin.address, text, answered);
      const began = performance.now();
      await admin[Symbol.asyncDispose]();
      const took = performance.now() - began;
      assert(took < 2500, `${Math.round(took)} ms`);
    });
  }
});

Deno.test("admin: an answer under way when the listener closes is still given", async () => {
  const { options } = bench();
  const answer = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const metrics = () => {
    asked.resolve();
    return answer.promise;
  };
  const admin = openAdmin({ ...options, sources: { ...options.sources, metrics } });
  const response = fetch(`http://${admin.address}/metrics`);
  await asked.promise;
  const closed = admin[Symbol.asyncDispose]();
  const late = await fetch(`http://${admin.address}/healthz`);
  assertEquals([late.status, await late.json()], [503, { error: "Pinnace is stopping" }]);
  answer.resolve("pinnace_build_info 1\n");
  assertEquals(await (await response).text(), "pinnace_build_info 1\n");
  await closed;
});
