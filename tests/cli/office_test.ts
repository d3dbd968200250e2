import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { AdminListenError } from "../../lib/admin/http.ts";
import { EventLog } from "../../lib/admin/events.ts";
import { statusSchema } from "../../lib/admin/status.ts";
import type { OpenPort } from "../../lib/cli/listeners.ts";
import { Office, type OfficeSources } from "../../lib/cli/office.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Publisher } from "../../lib/rollout/publisher.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { MemoryStore } from "../../lib/snapshot/memory_store.ts";
import type { SnapshotStore } from "../../lib/snapshot/store.ts";
import { SETTINGS, snapshotOf } from "../snapshot/snapshots.ts";

const OPEN = { ...SETTINGS, admin: "127.0.0.1:0" };

/** An office over real parts, and what can be asked of it. */
class Bench implements AsyncDisposable {
  readonly hub = new Hub();
  readonly warnings: string[] = [];
  readonly office: Office;
  readonly #publisher: Publisher;
  listen: readonly OpenPort[] = [];

  constructor(store: SnapshotStore = new MemoryStore({ keep: 3, now: Date.now })) {
    const { hub } = this;
    this.#publisher = new Publisher({ hub, store, clock: systemClock, onEvent: () => {} });
    const sources: OfficeSources = {
      hub,
      store,
      publisher: () => this.#publisher,
      reload: () => undefined,
      sessions: () => [],
      sinks: () => [],
      ports: () => ({ listen: this.listen, receive: [] }),
      clientCertificates: () => [],
      sources: () => [],
      events: () => new EventLog({ now: Date.now }),
      findings: () => [],
      connections: () => 0,
      pushLoop: () => ({ waiting: false, progressedAt: 0 }),
      warn: (message) => this.warnings.push(message),
    };
    this.office = new Office(sources);
  }

  /** Publishes a snapshot of one entry. */
  publish(): void {
    this.hub.publish({ snapshot: snapshotOf({ "shop/a": "x" }), changedAt: Date.now() });
  }

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://${this.office.address}${path}`, init);
  }

  async ready(): Promise<[number, string]> {
    const answer = await this.ask("/readyz");
    return [answer.status, await answer.text()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.office[Symbol.asyncDispose]();
    await this.#publisher[Symbol.asyncDispose]();
  }
}

/** A store that says it is in this folder. */
function storeIn(folder: string): SnapshotStore {
  const memory = new MemoryStore({ keep: 3, now: Date.now });
  return new Proxy(memory, {
    get(target, key) {
      if (key === "durable") return true;
      if (key === "place") return folder;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

Deno.test("office: ready once something is published and a port is open", async () => {
  await using bench = new Bench();
  await bench.office.open(OPEN);
  assertEquals(await bench.ready(), [503, "there is nothing to serve yet\n"]);
  bench.publish();
  assertEquals(await bench.ready(), [503, "no port is open\n"]);
  const port = { configured: "127.0.0.1:15010", address: "127.0.0.1:15010", alive: true };
  bench.listen = [port];
  assertEquals(await bench.ready(), [200, "ok\n"]);
  bench.listen = [{ ...port, alive: false }];
  const dead = "127.0.0.1:15010 takes no connections; it is being opened anew\n";
  assertEquals(await bench.ready(), [503, dead]);
  bench.listen = [port, { ...port, alive: false, waits: "cannot listen on x: no tls.crt" }];
  assertEquals(await bench.ready(), [503, "cannot listen on x: no tls.crt\n"]);
  const status = statusSchema.parse(await (await bench.ask("/api/v1/status")).json());
  const { address } = port;
  assertEquals(status.listen, [
    { address, use: "peers", tls: false, alive: true },
    { address, use: "peers", tls: true, alive: false, problem: "cannot listen on x: no tls.crt" },
  ]);
  assertEquals(status.certificates, [
    { use: `listen ${address}`, problem: "cannot listen on x: no tls.crt" },
  ]);
});

Deno.test("office: ready without a port where sinks are only dialled", async () => {
  await using bench = new Bench();
  await bench.office.open({ ...OPEN, listen: [] });
  bench.publish();
  assertEquals(await bench.ready(), [200, "ok\n"]);
});

Deno.test("office: status and metrics are there before anything is published", async () => {
  await using bench = new Bench();
  await bench.office.open(OPEN);
  const status = statusSchema.parse(await (await bench.ask("/api/v1/status")).json());
  assertEquals([status.instance, status.snapshot], [OPEN.instance, undefined]);
  assertMatch(await (await bench.ask("/metrics")).text(), /^pinnace_snapshot_held 0$/m);
  bench.publish();
  assertMatch(
    await (await bench.ask("/metrics")).text(),
    /^pinnace_resources\{kind="ServiceEntry"\} 1$/m,
  );
});

Deno.test("office: confirming needs the token that is in the store", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using bench = new Bench(storeIn(folder));
    await bench.office.open(OPEN);
    const path = "/api/v1/snapshots/x/confirm";
    const without = await bench.ask(path, { method: "POST" });
    assertEquals(without.status, 401);
    await without.body?.cancel();
    const token = (await Deno.readTextFile(`${folder}/admin.token`)).trim();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await bench.ask(path, { method: "POST", headers });
    assertEquals(answer.status, 409);
    assertMatch((await answer.json()).error, /no snapshot waits/);
    assertEquals(bench.warnings, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("office: a token that cannot be had is warned of, and keeps nobody from being served", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/admin.token`);
    await using bench = new Bench(storeIn(folder));
    await bench.office.open(OPEN);
    assertEquals(bench.warnings.length, 1);
    assertMatch(bench.warnings[0]!, /there is no admin token: .*admin\.token/);
    const status = await bench.ask("/api/v1/status");
    assertEquals(status.status, 200);
    await status.body?.cancel();
    const action = await bench.ask("/api/v1/snapshots/x/confirm", { method: "POST" });
    assertEquals(action.status, 403);
    assertMatch((await action.json()).error, /admin\.token/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("office: without a store on disk there are no actions, and it is said why", async () => {
  await using bench = new Bench();
  await bench.office.open(OPEN);
  const action = await bench.ask("/api/v1/snapshots/x/confirm", { method: "POST" });
  assertEquals(action.status, 403);
  assertMatch((await action.json()).error, /without a store on disk/);
});

Deno.test("office: another admin address replaces the first; one in use names the setting", async () => {
  await using bench = new Bench();
  await bench.office.open(OPEN);
  const first = bench.office.address!;
  await bench.office.open({ ...OPEN, admin: "localhost:0" });
  assert(bench.office.address !== first);
  await assertRejects(() => fetch(`http://${first}/healthz`));
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const admin = `127.0.0.1:${taken.addr.port}`;
  const error = await assertRejects(() => bench.office.open({ ...OPEN, admin }), AdminListenError);
  assertMatch(error.message, new RegExp(`${admin}: the port is already in use; .admin. in the`));
});
