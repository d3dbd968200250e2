import { assertEquals } from "@std/assert";
import { RestartNeeds } from "../../lib/cli/restart_needs.ts";
import { Log } from "../../lib/log.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";

function bench() {
  const lines: string[] = [];
  const log = new Log({
    level: "info",
    format: "text",
    sink: (line) => void lines.push(line.replace(/^\S+ /, "").replace(/ {2,}/g, " ").trimEnd()),
  });
  const needs = new RestartNeeds(log.logger("config"));
  needs.applied(SETTINGS);
  return { needs, said: () => lines.splice(0) };
}

Deno.test("restart needs: a change is said once, another again, its return as good news", () => {
  const { needs, said } = bench();
  const waits = "WARN config a change of `admin` takes effect at the next start";
  const first = { ...SETTINGS, admin: "127.0.0.1:1" };
  needs.configured(first);
  assertEquals(said(), [waits]);
  needs.configured({ ...first, push: { ...first.push, guard: 0.9 } });
  assertEquals(said(), []);
  needs.configured({ ...first, admin: "127.0.0.1:2" });
  assertEquals(said(), [waits]);
  needs.configured(SETTINGS);
  assertEquals(said(), [
    "INFO config `admin` is as it was at the start; no restart is needed for it",
  ]);
});

Deno.test("restart needs: an admin listener taken out is a change like others", () => {
  const { needs, said } = bench();
  const opened = { ...SETTINGS, admin: "127.0.0.1:1" };
  needs.applied(opened);
  const { admin: _, ...without } = opened;
  needs.configured(without);
  assertEquals(said(), ["WARN config a change of `admin` takes effect at the next start"]);
});

Deno.test("restart needs: the receiver waits for a start; sinks, peers and what is pulled from do not", () => {
  const { needs, said } = bench();
  const { address } = SETTINGS.listen[0]!;
  const dial = { address, headers: {} };
  needs.configured({
    ...SETTINGS,
    include: ["other/"],
    peers: [{ match: {}, namespaces: [], labels: {}, wave: 1 }],
    sinks: [{ ...dial, name: "a", heartbeat: 1, collections: [], wave: 1 }],
    pull: [{ ...dial, url: `xds://${address}`, namespaces: [] }],
  });
  assertEquals(said(), []);
  const receive = {
    address: "127.0.0.1:9901",
    insecure: false,
    from: [],
    tokens: {},
    merge: "refuse",
    collections: [],
  } as const;
  needs.configured({ ...SETTINGS, receive });
  const waits = "WARN config a change of `receive` takes effect at the next start";
  assertEquals(said(), [waits]);
  needs.configured({
    ...SETTINGS,
    receive: { ...receive, from: [{ source: "a", namespaces: [] }] },
  });
  assertEquals(said(), [waits]);
  needs.configured(SETTINGS);
  assertEquals(said(), [
    "INFO config `receive` is as it was at the start; no restart is needed for it",
  ]);
});

Deno.test("restart needs: of the limits only that of messages waits for a start", () => {
  const { needs, said } = bench();
  const { limits } = SETTINGS;
  needs.configured({ ...SETTINGS, limits: { ...limits, file: 1 } });
  assertEquals(said(), []);
  needs.configured({ ...SETTINGS, limits: { ...limits, message: 1 } });
  assertEquals(said(), ["WARN config a change of `limits.message` takes effect at the next start"]);
});
