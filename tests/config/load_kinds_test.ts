/** Loads with the real conversion: a service becomes objects of several kinds. */
import { assert, assertEquals } from "@std/assert";
import { ConfigReader } from "../../lib/config/load.ts";
import { checkTogether } from "../../lib/convert/together.ts";
import { conflicts } from "../../lib/convert/conflicts.ts";
import { convertService } from "../../lib/convert/convert.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

/** A configuration that is written and loaded again and again. */
class Case implements Disposable {
  readonly #folder = new TempFolder();
  readonly reader = new ConfigReader(this.#folder.at("c.yaml"), {
    converter: { convertService, conflicts, checkTogether },
    hostName: "test",
  });

  /** Writes the file and loads; gives what changed, a line a kind. */
  changes(yaml: string): string[] {
    this.#folder.write("c.yaml", yaml);
    return this.reader.load().changes.map(({ kind, names, removed }) =>
      [kind, ...names, ...removed.map((name) => `-${name}`)].join(" ")
    );
  }

  /** What the last load had to say. */
  said(): string[] {
    return this.reader.locate().map((finding) =>
      formatFinding(finding).replaceAll(`${this.#folder.path}/`, "")
    );
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

const ENDPOINTS = "endpoints: [{ address: 10.0.0.1, labels: { version: v1 } }, " +
  "{ address: 10.0.0.2, labels: { version: v2 } }]";
const service = (name: string, more = "") =>
  `  - { name: ${name}, ports: [80/HTTP], ${ENDPOINTS}${more} }\n`;

Deno.test("load: what directs traffic comes, changes and goes with its service", () => {
  using one = new Case();
  const split = (v1: number) => service("a", `, split: { v1: ${v1}, v2: 50 }`);
  assertEquals(one.changes(`services:\n${split(50)}${service("b")}`), [
    "ServiceEntry default/a default/b",
    "VirtualService default/a",
    "DestinationRule default/a",
    "Service default/a default/b",
  ]);
  assertEquals(one.changes(`services:\n${split(150)}${service("b")}`), [
    "VirtualService default/a",
    "Service default/a",
  ]);
  const subsets = service("a", ", subsets: { v1: { version: v1 }, v2: { version: v2 } }");
  assertEquals(one.changes(`services:\n${subsets}${service("b")}`), [
    "VirtualService -default/a",
    "Service default/a",
  ]);
  const hosts = service("a", ", hosts: [a.example, b.example], subsets: { v1: { version: v1 } }");
  assertEquals(one.changes(`services:\n${hosts}${service("b")}`), [
    "ServiceEntry default/a",
    "DestinationRule default/a default/a-host-2",
    "Service default/a",
  ]);
  assertEquals(one.changes(`services:\n${service("b")}`), [
    "ServiceEntry -default/a",
    "DestinationRule -default/a -default/a-host-2",
    "Service -default/a",
  ]);
  assertEquals(one.said(), []);
});

Deno.test("load: an error of what directs traffic keeps the last good content", () => {
  using one = new Case();
  one.changes(`services:\n${service("a", ", split: { v1: 1, v2: 1 }")}`);
  assertEquals(one.changes(`services:\n${service("a", ", split: { v1: 1, v3: 1 }")}`), []);
  assertEquals(one.said(), [
    "c.yaml:2:159: error: default/a: no endpoint has the label version: v3; did you mean v1? " +
    "[pinnace/empty-subset]",
  ]);
  assertEquals(one.reader.services[0]!.service.split, { v1: 1, v2: 1 });
});

Deno.test("load: two services that come to DestinationRules of one name are an error", () => {
  using one = new Case();
  const subsets = ", subsets: { v1: { version: v1 } }";
  const yaml = `services:\n${service("a", `, hosts: [a.example, b.example]${subsets}`)}` +
    service("a-host-2", subsets);
  assertEquals(one.changes(yaml), []);
  const message = "2 services come to a DestinationRule named default/a-host-2";
  const said = one.said();
  assertEquals(said.length, 2);
  for (const line of said) assert(line.includes(message), line);
});

Deno.test("load: ports that envoy.portOffset takes out of range are told with their place", () => {
  using one = new Case();
  const ports = "  - { name: a, ports: [80/HTTP, 60000/HTTP], endpoints: [10.0.0.1] }\n";
  one.changes(`envoy: { portOffset: 10000 }\nservices:\n${ports}`);
  assertEquals(one.said(), [
    "c.yaml:3:33: warning: default/a: port 60000 and `envoy.portOffset` (10000) come to 70000, " +
    "which is no port: Envoys get no listener for it; choose an offset of at most 5535, " +
    "or another port [config/port-offset]",
  ]);
  one.changes(`envoy: { portOffset: 5535 }\nservices:\n${ports}`);
  assertEquals(one.said(), []);
});

Deno.test("load: an alias that another service goes by, and a wildcard over others, are told with their place", () => {
  using one = new Case();
  one.changes(
    `services:\n${service("a", ", aliases: [pay, b.default]")}${service("b")}` +
      service("w", ', hosts: ["*.svc.cluster.local"], split: { v1: 1 }'),
  );
  assertEquals(one.said().map((line) => line.slice(0, line.indexOf(";"))), [
    "c.yaml:2:158: warning: default/a: the alias b.default is also short for default/b, " +
    "which clients cannot reach by it any more",
    'c.yaml:4:151: warning: default/w: what directs the traffic of "*.svc.cluster.local" also ' +
    "directs that of default/a, default/b, with hosts under it",
  ]);
});
