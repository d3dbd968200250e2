import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Status } from "../../lib/admin/status.ts";
import { type StatusLayout, statusLines } from "../../lib/cli/status_table.ts";
import { widthOf } from "../../lib/cli/terminal.ts";
import { status } from "../admin/statuses.ts";

const NOW = Date.UTC(2026, 0, 2);

const PLAIN: StatusLayout = { now: NOW, colours: false, verbose: false };

function lines(changed: Partial<Status> = {}, layout: Partial<StatusLayout> = {}): string[] {
  return statusLines({ ...status(), ...changed }, { ...PLAIN, ...layout });
}

function peerOf(changed: Partial<Status["peers"][number]>): Status["peers"] {
  return [{ ...status().peers[0]!, ...changed }];
}

const subscription = (
  type: string,
  more: Partial<Status["peers"][number]["subscriptions"][0]>,
) => ({ type, pending: false, acks: 1, nacks: 0, parked: 0, ...more });

Deno.test("status table: the whole of it", () => {
  const id = status().snapshot!.id;
  assertEquals(
    lines(),
    [
      "edge-1  pinnace 0.1.0, up 1m, listening on 127.0.0.1:15010, [::]:15012 (TLS), taking from sources on [::]:9901 (TLS)",
      `snapshot ${id}, published 49s ago, saved: 1 service; ServiceEntry 1`,
      "configuration loaded 10ms ago: 1 error, 0 warnings",
      "alert: held for 10ms: it would remove too much",
      "certificate of listen (CN=edge) ends in 1d: no such file",
      "certificate of pull xds://hub.example:15010: /tls/hub does not exist",
      "",
      "PEERS",
      "ADDRESS      NODE      IDENTITY                                       PROTOCOL  AS             COLLECTION  SENT  ACKED  UNACKED  LAST NACK",
      "192.0.2.1:1  istiod-1  spiffe://example.org/ns/istio-system/sa/istiod  ads       istio, wave 2  t           -     -      70ms     1 held back: no",
      "",
      "SINKS",
      "NAME    ADDRESS              STATE       FOR  TRIES  NEXT    LAST ERROR",
      "mesh-a  mesh-a.example:9901  unresolved                      no such host",
      "mesh-a  192.0.2.1:9901       up          5ms",
      "mesh-a  192.0.2.2:9901       waiting          3      in 5ms  refused",
      "",
      "SOURCES",
      "NAME                                      VIA      ADDRESS            STATE      FOR  LAST PUSH  RESOURCES       PROBLEM",
      "spiffe://example.org/edge/fra (edge-fra)  receive  192.0.2.9:40000    connected  5s   4s ago     ServiceEntry 3  refused: shop/a: no host",
      "xds://hub.example:15010                   pull     hub.example:15010  waiting    9s                              connection refused",
      "",
      "CHANGES",
      "SEQ  AGE  SERVICES  RESOURCES  ANSWERS       CAUSE",
      "1    49s  +1 ~0 -0  +1 ~0 -0   1 ACK, in 1s  services.yaml",
    ].map((line, at) => at === 8 || at === 18 ? lines()[at]! : line),
  );
});

Deno.test("status table: no line is wider than the terminal, whatever peers say of themselves", () => {
  const peers = peerOf({
    node: "節".repeat(200),
    identity: `spiffe://${"x".repeat(300)}`,
    subscriptions: [subscription("t", { lastNack: "no ".repeat(600) })],
  });
  for (const width of [40, 80, 100, 132, 200]) {
    for (const line of lines({ peers }, { width })) {
      assert(widthOf(line) <= width, `${width}: ${widthOf(line)} ${line}`);
    }
  }
});

Deno.test("status table: where there is no terminal nothing is cut", () => {
  const lastNack = "no ".repeat(600).trim();
  const peers = peerOf({ subscriptions: [subscription("t", { lastNack })] });
  assertStringIncludes(lines({ peers }).join("\n"), lastNack);
});

Deno.test("status table: what peers choose cannot reach the terminal raw", () => {
  const evil = "\x1b]0;title\x07\x1b[2J\r\nfake line\u202e";
  const all = status();
  const shown = lines({
    instance: evil,
    peers: peerOf({
      node: evil,
      identity: evil,
      sink: evil,
      subscriptions: [
        subscription(evil, { sentVersion: evil, ackedVersion: evil, lastNack: evil }),
      ],
    }),
    sinks: [{ name: evil, address: evil, unresolved: evil, links: [] }],
    sources: [{ ...all.sources[0]!, name: evil, refused: { at: all.startedAt, message: evil } }],
    alerts: [{ kind: evil, since: all.startedAt, message: evil }],
    events: [{ ...all.events[0]!, causes: [{ kind: "source", name: evil }] }],
  }, { verbose: true });
  // deno-lint-ignore no-control-regex
  for (const line of shown) assert(!/[\x00-\x1f\x7f-\x9f\u202e]/.test(line), JSON.stringify(line));
});

Deno.test("status table: colours only where they are wanted", () => {
  assert(!lines().join("").includes("\x1b"));
  assertStringIncludes(lines({}, { colours: true }).join("\n"), "\x1b[32mup\x1b[0m");
});

Deno.test("status table: of many subscriptions the one to look at speaks, with -V each has its line", () => {
  const subscriptions = [
    subscription("networking.istio.io/v1/Gateway", { sentVersion: "g1", ackedVersion: "g1" }),
    subscription("networking.istio.io/v1/ServiceEntry", {
      sentVersion: "0123456789abcdef",
      ackedVersion: "fedcba9876543210",
      pending: true,
    }),
  ];
  const one = lines({ peers: peerOf({ subscriptions }) });
  const at = one.indexOf("PEERS");
  assertEquals(one[at + 3], "");
  assertStringIncludes(one[at + 2]!, "ServiceEntry +1  01234567  fedcba98");
  const each = lines({ peers: peerOf({ subscriptions }) }, { verbose: true });
  assertEquals(each.slice(at + 3, at + 5).map((line) => line.trim().split(/ +/)), [
    ["Gateway", "g1", "g1"],
    ["ServiceEntry", "01234567", "fedcba98", "waits"],
  ]);
  const refused = [
    subscriptions[1]!,
    subscription("security.istio.io/v1/PeerAuthentication", { lastNack: "x" }),
  ];
  assertStringIncludes(lines({ peers: peerOf({ subscriptions: refused }) })[at + 2]!, "PeerAuth");
});

Deno.test("status table: certificates are shown when they end soon or are in trouble", () => {
  const one = { use: "listen", subject: "CN=a" };
  const after = (days: number) => new Date(NOW + days * 86_400_000).toISOString();
  const shown = (certificates: Status["certificates"]) =>
    lines({ certificates }).filter((line) => line.startsWith("certificate"));
  assertEquals(shown([{ ...one, notAfter: after(31) }]), []);
  assertEquals(shown([{ ...one, notAfter: after(10) }]), [
    "certificate of listen (CN=a) ends in 10d",
  ]);
  assertEquals(shown([{ ...one, notAfter: after(-2) }]), [
    "certificate of listen (CN=a) ended 2d ago",
  ]);
});

/** Many peers that have nothing to see to, two of the last that have. */
function manyPeers(): Status["peers"] {
  const [{ oldestUnackedMs: _, ...peer }] = status().peers as [Status["peers"][number]];
  const calm = subscription("istio/networking/v1alpha3/serviceentries", { sentVersion: "1" });
  const peers: Status["peers"] = Array.from({ length: 50 }, (_, key) => ({
    ...{ ...peer, key, wave: 1, node: `sink-${key}`, address: `192.0.2.${key}:40000` },
    ...{ protocol: "mesh-config-incremental", identity: `spiffe://example.org/sink/${key}` },
    subscriptions: [calm],
  }));
  peers[40] = { ...peers[40]!, oldestUnackedMs: 75_000 };
  peers[45] = { ...peers[45]!, subscriptions: [{ ...calm, lastNack: "shop/a: no host" }] };
  return peers;
}

Deno.test("status table: whom there is something to see to comes first, at 80 columns with a line that says what", () => {
  const narrow = lines({ peers: manyPeers() }, { width: 80 });
  const at = narrow.indexOf("PEERS");
  assertMatch(narrow[at + 1]!, /^ADDRESS .* ACKED {2,}UNACKED$/);
  assertMatch(narrow[at + 2]!, /^192\.0\.2\.45:/);
  assertEquals(narrow[at + 3], "  last NACK: shop/a: no host, spiffe://example.org/sink/45");
  assertMatch(narrow[at + 4]!, /^192\.0\.2\.40:.* 1m15s$/);
  assertEquals(narrow[at + 5], "  no answer for 1m15s, spiffe://example.org/sink/40");
  assertMatch(narrow[at + 6]!, /^192\.0\.2\.0:/);
  assertMatch(narrow[at + 7]!, /^192\.0\.2\.1:/); // nothing to say of the one before
  assertStringIncludes(narrow.join("\n"), "  refused: shop/a: no host\n"); // of a source

  const wide = lines({ peers: manyPeers() }, { width: 200 });
  assertMatch(wide[at + 2]!, /^192\.0\.2\.45:.* shop\/a: no host$/);
  assertMatch(wide[at + 3]!, /^192\.0\.2\.40:.* 1m15s$/);
});

Deno.test("status table: on a small screen every section is seen, with how much of it is left out", () => {
  const shown = lines({ peers: manyPeers(), certificates: [] }, { width: 80, rows: 20 });
  assertEquals(shown.length, 20);
  const text = shown.join("\n");
  for (const title of ["PEERS  … 48 more\n", "\nSINKS", "\nSOURCES", "\nCHANGES"]) {
    assertStringIncludes(text, title);
  }
  assertStringIncludes(text, "  last NACK: shop/a");
});

Deno.test("status table: a port that is not open, or takes nobody, says so", () => {
  const port = { address: "a:1", use: "peers", tls: true, alive: false } as const;
  const [head] = lines({ listen: [{ ...port, problem: "no tls.crt" }, { ...port, tls: false }] });
  assertStringIncludes(head!, "listening on a:1 (TLS, not open yet), a:1 (takes no connections)");
});

Deno.test("status table: before anything is published it says so", () => {
  const { snapshot: _, reload: __, ...bare } = status();
  const empty = { peers: [], sinks: [], sources: [], events: [], certificates: [], alerts: [] };
  assertEquals(statusLines({ ...bare, ...empty, findings: [], listen: [] }, PLAIN), [
    "edge-1  pinnace 0.1.0, up 1m, no port open",
    "nothing is published yet",
  ]);
});

Deno.test("status table: ten thousand peers take no longer than a glance", () => {
  const [peer] = status().peers;
  const peers = Array.from({ length: 10_000 }, (_, key) => ({ ...peer!, key }));
  const began = performance.now();
  assertEquals(lines({ peers }, { width: 100 }).length > 10_000, true);
  assert(performance.now() - began < 5000);
});
