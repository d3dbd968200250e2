import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ConfigReader } from "../../lib/config/load.ts";
import type { LoadResult, Seed } from "../../lib/config/messages.ts";
import { makeSeed } from "../../lib/config/seed.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import type { Service } from "../../lib/model/service.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

const service = (name: string, more = "") =>
  `  - { name: ${name}, ports: [80], endpoints: [10.0.0.1]${more} }\n`;
const services = (...names: string[]) =>
  names.length === 0
    ? "services: []\n"
    : `services:\n${names.map((name) => service(name)).join("")}`;

/** A configuration in a folder of its own. */
class Case implements Disposable {
  readonly folder = new TempFolder();
  readonly reader: ConfigReader;
  last: LoadResult | undefined;

  constructor(
    files: Readonly<Record<string, string | Uint8Array>>,
    config = "c.yaml",
    seed?: Seed,
  ) {
    for (const [name, content] of Object.entries(files)) this.folder.write(name, content);
    this.reader = new ConfigReader(this.folder.at(config), {
      converter: PLAIN_CONVERTER,
      hostName: "test",
      environment: (name) => name === "SET" ? "value" : undefined,
    });
    if (seed !== undefined) this.reader.seed(seed);
  }

  load(): LoadResult {
    return this.last = this.reader.load();
  }

  /** Loads and gives the services in effect. */
  names(): string[] {
    this.load();
    return this.reader.services.map(({ service }) => service.name).sort();
  }

  /** What the last load had to say, with paths shortened. */
  said(): string[] {
    return this.reader.locate().map((finding) =>
      formatFinding(finding).replaceAll(`${this.folder.path}/`, "")
    );
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** The seed that a snapshot of this case's last load would give. */
function seedOf({ reader, last }: Case, change = (service: Service) => service): Seed {
  const records = reader.services.map(({ file, service }) => ({ file, service: change(service) }));
  const resources = records.map((record, index) => ({
    name: String(index),
    version: "",
    bytes: new TextEncoder().encode(JSON.stringify(record)),
  }));
  return makeSeed(resources, last!.settings!);
}

Deno.test("load: nothing at the path is a finding, and nothing is usable", () => {
  using none = new Case({});
  const result = none.load();
  assertEquals([result.ok, result.usable, result.changes.length], [false, false, 0]);
  assertEquals(none.said(), [
    "c.yaml: error: c.yaml is not there; check what --config names [config/read]",
  ]);
  assertEquals(result.watch, [none.folder.at("c.yaml")]);
});

Deno.test("load: an empty folder is a finding, and nothing is usable", () => {
  using none = new Case({ "conf/.hidden.yaml": services("a"), "conf/notes.txt": "x" }, "conf");
  assertEquals(none.load().usable, false);
  assertStringIncludes(none.said()[0]!, "the folder conf holds no configuration");
});

Deno.test("load: a folder stands for its yaml, yml and json files, not for those below or with a dot", () => {
  using conf = new Case({
    "conf/a.yaml": services("a"),
    "conf/b.yml": services("b"),
    "conf/c.json": `{"services":[{"name":"c","ports":["80"],"endpoints":["10.0.0.1"]}]}`,
    "conf/.d.yaml": services("d"),
    "conf/sub/e.yaml": services("e"),
    "conf/f.txt": services("f"),
  }, "conf");
  assertEquals(conf.names(), ["a", "b", "c"]);
  assertEquals(conf.said(), []);
  assertEquals(conf.reader.services.map(({ file }) => file), ["a.yaml", "b.yml", "c.json"]);
});

Deno.test("load: settings may be spread over the files of a folder, but each stands in one", () => {
  using conf = new Case({
    "conf/a.yaml": "instance: edge\n",
    "conf/b.yaml": "defaults: { namespace: shop }\n",
    "conf/c.yaml": services("c"),
  }, "conf");
  conf.load();
  assertEquals(conf.last?.settings?.instance, "edge");
  assertEquals(conf.reader.services[0]?.name, "shop/c");

  conf.folder.write("conf/d.yaml", `instance: other\n${services("d")}`);
  assertEquals(conf.names(), ["c"]);
  assertEquals(conf.last?.settings?.instance, "edge", "the last good one stays");
  assertEquals(
    conf.said(),
    [
      "conf/a.yaml:1:1: error: `instance` stands in d.yaml as well; keep one [config/duplicate-setting]",
      "conf/d.yaml:1:1: error: `instance` stands in a.yaml as well; keep one [config/duplicate-setting]",
    ].map((line, index) => index === 0 ? line.replace(":1:1", ":1:1") : line),
  );
  conf.folder.write("conf/d.yaml", services("d"));
  assertEquals(conf.names(), ["c", "d"]);
  assertEquals(conf.last?.ok, true);
});

const BROKEN: Readonly<Record<string, { content: string | Uint8Array; says: RegExp }>> = {
  "is empty": { content: "", says: /^b\.yaml: error: the file is empty.*services: \[\]/ },
  "holds comments alone": { content: "# nothing\n", says: /the file is empty/ },
  "holds null": { content: "---\n", says: /the file is empty/ },
  "is a list": {
    content: "- name: b\n",
    says: /must be a mapping, not a list; put `services:` above/,
  },
  "is a text": { content: "hello\n", says: /must be a mapping, not "hello"/ },
  "has no services key": { content: "{}\n", says: /`services` is gone, which held 1 service/ },
  "has an empty services key": {
    content: "services:\n",
    says: /^b\.yaml:1:1: error: `services` is empty/,
  },
  "has a key twice": {
    content: `${services("b")}services: []\n`,
    says: /^b\.yaml:3:1: error: the key is there twice/,
  },
  "holds two documents": {
    content: `${services("b")}---\n${services("x")}`,
    says: /holds 2 documents/,
  },
  "ends with ---": {
    content: `${services("b")}---\n`,
    says: /take out the `---` that begins an empty one/,
  },
  "is indented with a tab": {
    content: "services:\n\t- name: b\n",
    says: /^b\.yaml:2:1: error: tab characters/,
  },
  "is cut in a bracket": {
    content: "services:\n  - { name: bb, ports: [80",
    says: /^b\.yaml:2:\d+: error: .*flow/,
  },
  "is not UTF-8": {
    content: new Uint8Array([...new TextEncoder().encode("services: []\n# "), 0xff, 10]),
    says: /^b\.yaml:2: error: the file is not UTF-8; save it as UTF-8/,
  },
  "is UTF-16": { content: new Uint8Array([0xff, 0xfe, 0x61, 0]), says: /is UTF-16, not UTF-8/ },
  "holds a NUL": {
    content: "services: []\0\n",
    says: /^b\.yaml:1: error: the file holds a NUL byte/,
  },
  "has an unknown tag": { content: "services: !list []\n", says: /unknown .* tag/ },
  "is an Istio manifest": {
    content: "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nspec: {}\n",
    says:
      /^b\.yaml:2:1: error: an Istio manifest \(ServiceEntry\) is not supported yet by this version/,
  },
  "holds a setting": {
    content: `${services("b")}listen: []\n`,
    says: /^b\.yaml:3:1: error: `listen` does not belong here/,
  },
  "has a service of the wrong form": {
    content: `${services("b", "x")}  - { name: y }\n`,
    says: /^b\.yaml:4:5: error: `ports` is missing/,
  },
  "has a service that a rule refuses": {
    content: `services:\n${service("b")}${service("x", ", labels: { error: so }")}`,
    says: /^b\.yaml:3:\d+: error: default\/x: so \[test\/label\]/,
  },
  "has an alias in itself": {
    content: "services: &a [*a]\n",
    says: /an alias stands inside what it is an alias of/,
  },
  "is blown up by aliases": {
    content: "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n" +
      Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i}, `.repeat(10)}]\n`)
        .join(""),
    says: /aliases make the file larger/,
  },
  "is nested too deep": { content: `services: ${"[".repeat(5000)}`, says: /nesting exceeded/ },
};

for (const [how, { content, says }] of Object.entries(BROKEN)) {
  Deno.test(`load: a file that ${how} keeps its last good content while others go on`, () => {
    using conf = new Case({
      "c.yaml": "include: [a.yaml, b.yaml]\n",
      "a.yaml": services("a"),
      "b.yaml": services("b"),
    });
    assertEquals(conf.names(), ["a", "b"]);
    conf.folder.write("b.yaml", content);
    conf.folder.write("a.yaml", services("a", "c"));
    assertEquals(conf.names(), ["a", "b", "c"]);
    assertEquals([conf.last?.ok, conf.last?.usable, conf.last?.kept], [false, true, ["b.yaml"]]);
    assertMatch(conf.said()[0]!, says);
    conf.folder.write("b.yaml", services("d"));
    assertEquals(conf.names(), ["a", "c", "d"]);
    assertEquals([conf.last?.ok, conf.said()], [true, []], "findings clear when the file is right");
  });
}

Deno.test("load: of a key that is written at the wrong level it is said where it belongs", () => {
  using conf = new Case({
    "c.yaml": `services:
  - name: a
    ports: [80, { number: 81, endpoints: [] }]
    drain: true
    endpoints: [{ address: 10.0.0.1, addresses: [10.0.0.2], failover: [eu] }]
    targetPort: 81
`,
  });
  conf.load();
  assertEquals(conf.said(), [
    "c.yaml:3:31: error: unknown key `endpoints`; `endpoints` belongs to the service [config/unknown-key]",
    "c.yaml:5:38: error: unknown key `addresses`; did you mean `address`? [config/unknown-key]",
    "c.yaml:5:61: error: unknown key `failover`; `failover` belongs to the service [config/unknown-key]",
    "c.yaml:4:5: error: unknown key `drain`; `drain` belongs to an endpoint [config/unknown-key]",
    "c.yaml:6:5: error: unknown key `targetPort`; `targetPort` belongs to a port [config/unknown-key]",
  ]);
});

Deno.test("load: a byte order mark, CRLF, a leading --- and a final ... do no harm", () => {
  using conf = new Case({
    "c.yaml":
      "\ufeff---\r\nservices:\r\n  - name: a\r\n    ports: [80]\r\n    prots: []\r\n...\r\n",
  });
  conf.load();
  assertEquals(conf.said(), [
    "c.yaml:5:5: error: unknown key `prots`; did you mean `ports`? [config/unknown-key]",
  ]);
  conf.folder.write(
    "c.yaml",
    "\ufeff---\r\nservices:\r\n  - name: a\r\n    ports: [80]\r\n...\r\n",
  );
  assertEquals(conf.names(), ["a"]);
});

Deno.test("load: anchors and merge keys work", () => {
  using conf = new Case({
    "c.yaml": "services:\n  - &a { name: a, ports: [80], endpoints: [10.0.0.1] }\n" +
      "  - { <<: *a, name: b }\n",
  });
  assertEquals(conf.names(), ["a", "b"]);
});

Deno.test("load: a file cut off within a line keeps its last good content though it is right YAML", () => {
  const whole = "services:\n  - name: a\n    ports: [80]\n  - name: bravo\n    ports: [80]\n";
  using conf = new Case({ "c.yaml": whole });
  assertEquals(conf.names(), ["a", "bravo"]);
  conf.folder.write("c.yaml", whole.slice(0, whole.indexOf("  - name: bravo") - 2));
  assertEquals(conf.names(), ["a", "bravo"]);
  assertStringIncludes(conf.said()[0]!, "it looks cut off");
  conf.folder.write("c.yaml", whole.slice(0, whole.indexOf("  - name: bravo")));
  assertEquals(conf.names(), ["a"], "ended with a newline it is meant");
});

Deno.test("load: only an explicit empty list empties", () => {
  using conf = new Case({ "c.yaml": `instance: x\n${services("a")}` });
  assertEquals(conf.names(), ["a"]);
  conf.folder.write("c.yaml", "instance: x\n");
  assertEquals(conf.names(), ["a"]);
  conf.folder.write("c.yaml", `instance: x\n${services()}`);
  assertEquals(conf.names(), []);
  assertEquals(conf.last?.changes.map(({ kind, removed }) => [kind, removed]), [
    ["ServiceEntry", ["default/a"]],
    ["Service", ["default/a"]],
  ]);
});

Deno.test("load: a broken file is right from the start of a process too, by the seed", () => {
  using before = new Case({
    "c.yaml": "instance: edge\ninclude: [services/]\n",
    "services/a.yaml": services("a1", "a2"),
    "services/b.yaml": services("b"),
  });
  before.load();
  const seed = seedOf(before);

  using after = new Case(
    {
      "c.yaml": "instance: edge\ninclude: [services/]\n",
      "services/a.yaml": "services: [",
      "services/b.yaml": services("b", "c"),
    },
    "c.yaml",
    seed,
  );
  assertEquals(after.names(), ["a1", "a2", "b", "c"]);
  assertEquals([after.last?.usable, after.last?.kept], [true, ["services/a.yaml"]]);
  after.folder.write("services/a.yaml", services("a1"));
  assertEquals(after.names(), ["a1", "b", "c"]);
});

Deno.test("load: with a broken --config file settings and include come from the seed", () => {
  using before = new Case({
    "c.yaml": `instance: edge\ninclude: [services/]\nlisten: [127.0.0.1:7000]\n${services("main")}`,
    "services/a.yaml": services("a"),
  });
  before.load();
  using after = new Case(
    { "c.yaml": "instance: [", "services/a.yaml": services("a", "b") },
    "c.yaml",
    seedOf(before),
  );
  assertEquals(after.names(), ["a", "b", "main"]);
  assertEquals(after.last?.settings, before.last?.settings);
  after.folder.write("services/a.yaml", services("a"));
  assertEquals(after.names(), ["a", "main"], "still so in the loads after the first");
  assertEquals(after.last?.settings, before.last?.settings);
  after.folder.write("c.yaml", "instance: new\nservices: []\n");
  assertEquals(after.names(), []);
  assertEquals(after.last?.settings?.instance, "new");
});

Deno.test("load: whom we dial and who may dial us come from the seed as well", () => {
  const settings = `
include: [services/, "xds://127.0.0.1:7001"]
listen: [{ address: "0.0.0.0:7002", tls: server, allow: [a.example] }]
sinks: [{ address: "a:1", tls: true, tokenFile: t, collections: [], wave: 1 }]
receive: { address: "127.0.0.1:7003", keep: 1h, from: [edge], tokens: { edge: t } }
peers: [{ match: { id: "a*" }, as: grpc, namespaces: [shop] }]
`;
  using before = new Case({ "c.yaml": settings, "services/a.yaml": services("a") });
  before.load();
  assertEquals(before.said(), []);
  const { pull, receive, peers } = before.last!.settings!;
  assertEquals([pull.length, receive?.keep, peers.length], [1, 3_600_000, 1]);
  const broken = settings.replace("keep: 1h", "keep: 1ms");
  using after = new Case(
    { "c.yaml": broken, "services/a.yaml": services("a", "b") },
    "c.yaml",
    seedOf(before),
  );
  assertEquals(after.names(), ["a", "b"]);
  assertEquals(after.last?.settings, before.last?.settings);
  assertEquals(after.said(), [
    "c.yaml:5:39: error: `keep` must be from 1s to 87600h [config/value]",
  ]);
  after.folder.write("c.yaml", settings.replace("7003", "7004"));
  assertEquals(after.names(), ["a", "b"]);
  assertEquals(after.last?.settings?.receive, { ...receive!, address: "127.0.0.1:7004" });
});

Deno.test("load: a service of the seed that is refused by now is said and left out", () => {
  using before = new Case({ "c.yaml": services("a", "b") });
  before.load();
  const seed = seedOf(
    before,
    (service) => service.name === "b" ? { ...service, labels: { error: "so" } } : service,
  );
  using after = new Case({ "c.yaml": "[" }, "c.yaml", seed);
  assertEquals(after.names(), ["a"]);
  assertStringIncludes(after.said().join("\n"), "default/b: so; it was published before");
});

Deno.test("load: with nothing but broken files and no seed, nothing is usable", () => {
  using conf = new Case({ "c.yaml": "include: [a.yaml]\n", "a.yaml": "services: [" });
  assertEquals(conf.load().usable, false);
  conf.folder.write("a.yaml", services());
  assertEquals(conf.load().usable, true, "but an explicit empty list is");
});

Deno.test("load: a file that is gone takes its services along; a folder or file out of reach does not", () => {
  using conf = new Case({
    "c.yaml": "include: [services/, single.yaml, 'teams/*/s.yaml']\n",
    "services/a.yaml": services("a"),
    "services/b.yaml": services("b"),
    "single.yaml": services("single"),
    "teams/x/s.yaml": services("x"),
    "teams/y/s.yaml": services("y"),
  });
  assertEquals(conf.names(), ["a", "b", "single", "x", "y"]);
  conf.folder.remove("services/a.yaml");
  conf.folder.remove("teams/x");
  assertEquals(conf.names(), ["b", "single", "y"]);
  assertEquals(conf.last?.ok, true);
  conf.folder.remove("services");
  conf.folder.remove("teams");
  conf.folder.remove("single.yaml");
  assertEquals(conf.names(), ["b", "single", "y"]);
  assertEquals(conf.last?.kept, ["services/b.yaml", "single.yaml", "teams/y/s.yaml"]);
  assertEquals(conf.said(), [
    "c.yaml:1:11: error: services/ is not there [config/include]",
    "c.yaml:1:22: error: single.yaml is not there [config/include]",
    "c.yaml:1:35: error: teams/*/s.yaml is not there [config/include]",
  ]);
  assertEquals(conf.reader.hasChanged(), false, "what is out of reach is no change at each poll");
  conf.folder.write("c.yaml", services());
  assertEquals(conf.names(), [], "taken out of `include` they go");
});

Deno.test("load: a file named twice, or --config's own, is read once", () => {
  using conf = new Case({
    "c.yaml": `include: ["*.yaml", a.yaml, "**/a.yaml"]\n${services("main")}`,
    "a.yaml": services("a"),
    "deep/er/a.yaml": services("deep"),
  });
  assertEquals(conf.names(), ["a", "deep", "main"]);
  assertEquals(conf.last?.stats.files, 3);
});

Deno.test("load: an entry of include that holds nothing is a warning", () => {
  using conf = new Case({ "c.yaml": `include: ["none*.yaml"]\n${services("a")}` });
  assertEquals(conf.load().ok, true);
  assertEquals(conf.said(), ["c.yaml:1:11: warning: none*.yaml holds no file [config/include]"]);
});

Deno.test("load: the same service in two files is an error at both, and both keep what was good", () => {
  using conf = new Case({
    "c.yaml": "include: [a.yaml, b.yaml]\n",
    "a.yaml": services("a"),
    "b.yaml": services("b"),
  });
  conf.load();
  conf.folder.write("b.yaml", services("b2", "a"));
  assertEquals(conf.names(), ["a", "b"]);
  assertEquals(conf.last?.kept, ["b.yaml"]);
  const said = conf.said();
  assertEquals(said.length, 2);
  assertMatch(said[0]!, /^a\.yaml:2:5: error: default\/a: .*item 2 of b\.yaml/);
  assertMatch(said[1]!, /^b\.yaml:3:5: error: default\/a: .*item 1 of a\.yaml/);
  conf.folder.write("a.yaml", services("a2"));
  assertEquals(conf.names(), ["a", "a2", "b2"], "moved in two steps");
  assertEquals(conf.last?.ok, true);
});

Deno.test("load: the same host in one namespace, and the same alias, are conflicts; in two namespaces they are not", () => {
  const host = (name: string, namespace: string, more = "") =>
    `  - { name: ${name}, namespace: ${namespace}, hosts: [api.example], ports: [80]${more} }\n`;
  using conf = new Case({
    "c.yaml": "include: [a.yaml, b.yaml]\n",
    "a.yaml": `services:\n${host("a", "one")}`,
    "b.yaml": `services:\n${host("b", "two")}`,
  });
  assertEquals(conf.names(), ["a", "b"]);
  conf.folder.write("b.yaml", `services:\n${host("b", "one").replace("api", "API")}`);
  assertEquals(conf.names(), ["a", "b"]);
  assertMatch(
    conf.said()[1]!,
    /^b\.yaml:2:\d+: error: one\/b: 2 services of namespace one have the host/,
  );
  conf.folder.write("a.yaml", `services:\n${host("a", "one", ", aliases: [x]")}`);
  conf.folder.write("b.yaml", `services:\n${host("b", "two", ", aliases: [x]")}`);
  conf.load();
  assert(conf.said().some((line) => line.includes("answer to the name x")), conf.said().join("\n"));
});

Deno.test("load: a conflict within a file is that file's own error", () => {
  using conf = new Case({
    "c.yaml": "include: [a.yaml, b.yaml]\n",
    "a.yaml": services("a"),
    "b.yaml": services("b"),
  });
  conf.load();
  conf.folder.write("b.yaml", services("x", "y", "x"));
  assertEquals(conf.names(), ["a", "b"]);
  assertMatch(conf.said()[0]!, /^b\.yaml:2:5: error: default\/x: .*item 3 of this file/);
  assertMatch(conf.said()[1]!, /^b\.yaml:4:5: error: default\/x: .*item 1 of this file/);
});

Deno.test("load: a file sent back for a conflict draws in whoever took what it still has", () => {
  using conf = new Case({
    "c.yaml": "include: [a.yaml, b.yaml, c2.yaml]\n",
    "a.yaml": services("moved"),
    "b.yaml": services("b"),
    "c2.yaml": services("c"),
  });
  conf.load();
  conf.folder.write("a.yaml", services("c")); // gives up `moved`, but is in conflict with c2
  conf.folder.write("b.yaml", services("b", "moved")); // took it over
  assertEquals(conf.names(), ["b", "c", "moved"]);
  assertEquals(conf.last?.kept, ["a.yaml", "b.yaml"]);
  assertStringIncludes(conf.said().join("\n"), "the last good content of a.yaml");
});

Deno.test("load: two files that are in conflict from the start have neither in effect, and others go on", () => {
  using conf = new Case({
    "c.yaml": "include: [a.yaml, b.yaml, d.yaml]\n",
    "a.yaml": services("a", "x"),
    "b.yaml": services("b", "x"),
    "d.yaml": services("d"),
  });
  assertEquals(conf.names(), ["d"]);
  assertEquals([conf.last?.ok, conf.last?.usable], [false, true]);
});

Deno.test("load: defaults reach included files, and a change of them changes every service", () => {
  using conf = new Case({
    "c.yaml": "defaults: { namespace: one, domain: corp }\ninclude: [a.yaml]\n",
    "a.yaml": services("a"),
  });
  conf.load();
  assertEquals(conf.reader.services[0]?.service.hosts, ["a.one.corp"]);
  conf.folder.write("c.yaml", "defaults: { namespace: two, exportTo: ['.'] }\ninclude: [a.yaml]\n");
  conf.load();
  const changed = conf.reader.services[0]?.service;
  assertEquals([changed?.hosts, changed?.exportTo], [["a.two.svc.cluster.local"], ["."]]);
  assertEquals(conf.last?.changes[0]?.removed, ["one/a"]);
});

Deno.test("load: defaults of a --config file that is sent back do not reach other files", () => {
  using conf = new Case({
    "c.yaml": `defaults: { namespace: one }\ninclude: [a.yaml]\n${services("main")}`,
    "a.yaml": services("a"),
  });
  conf.load();
  conf.folder.write(
    "c.yaml",
    `defaults: { namespace: two }\ninclude: [a.yaml]\n${services("a", "main")}`,
  );
  conf.folder.write("a.yaml", services("a", "b"));
  conf.folder.write(
    "c.yaml",
    `defaults: { namespace: two }\ninclude: [a.yaml]\n${services("main")}  - 5\n`,
  );
  assertEquals(conf.names(), ["a", "b", "main"]);
  assertEquals(conf.reader.services.map(({ name }) => name), ["one/main", "one/a", "one/b"]);
});

Deno.test("load: only what changed is parsed, converted and sent", () => {
  let conversions = 0;
  const converter = {
    ...PLAIN_CONVERTER,
    convertService: (s: Parameters<typeof PLAIN_CONVERTER.convertService>[0]) => {
      conversions++;
      return PLAIN_CONVERTER.convertService(s);
    },
  };
  using folder = new TempFolder();
  folder.write("c.yaml", "include: [a.yaml, b.yaml]\n");
  folder.write("a.yaml", services("a1", "a2", "a3"));
  folder.write("b.yaml", services("b1", "b2"));
  const reader = new ConfigReader(folder.at("c.yaml"), { converter, hostName: "test" });
  assertEquals(reader.load().stats.filesParsed, 3);
  assertEquals(conversions, 5);
  folder.write("a.yaml", services("new", "a1", "a2", "a3"));
  const { stats, changes } = reader.load();
  assertEquals([stats.filesParsed, conversions], [1, 6]);
  assertEquals(changes.map(({ names }) => names), [["default/new"], ["default/new"]]);
  assertEquals(reader.load().stats.filesParsed, 0);
});

Deno.test("load: a change says names, versions and bodies of what is new, and what is gone", () => {
  using conf = new Case({ "c.yaml": services("a", "b") });
  const first = conf.load();
  assertEquals(first.full, true);
  assertEquals(first.changes.map(({ kind }) => kind), ["ServiceEntry", "Service"]);
  conf.folder.write("c.yaml", services("b", "c").replace("10.0.0.1", "10.0.0.9"));
  const { full, changes } = conf.load();
  assertEquals(full, false);
  for (const change of changes) {
    assertEquals([change.names, change.removed], [["default/b", "default/c"], ["default/a"]]);
    assertEquals(change.bytes.length, change.lengths[0]! + change.lengths[1]!);
    assertEquals(change.versions.map((version) => version.length), [16, 16]);
    const body = new TextDecoder().decode(change.bytes.subarray(0, change.lengths[0]));
    assertStringIncludes(body, "10.0.0.9");
  }
});

Deno.test("load: a file larger than the limit is not read", () => {
  using conf = new Case({ "c.yaml": "include: [a.yaml, big.yaml]\n", "a.yaml": services("a") });
  const big = conf.folder.write("big.yaml", "");
  Deno.truncateSync(big, 50 * 1024 * 1024);
  const start = performance.now();
  assertEquals(conf.names(), ["a"]);
  assert(performance.now() - start < 1000);
  assertEquals(conf.said(), [
    "big.yaml: error: the file is 50 MiB large, more than 32 MiB; spread the services over several " +
    "files, or raise limits.file for included ones [config/size]",
  ]);
  conf.folder.write("c.yaml", "include: [a.yaml]\nlimits: { file: 1KiB }\n");
  conf.folder.write("a.yaml", services("b") + "#".repeat(1024));
  assertEquals(conf.names(), ["a"]);
  assertStringIncludes(conf.said()[0]!, "more than 1 KiB");
});

Deno.test("load: a --config file of 50 MB is a finding", () => {
  using conf = new Case({ "c.yaml": "" });
  Deno.truncateSync(conf.folder.at("c.yaml"), 50_000_000);
  assertEquals(conf.load().usable, false);
  assertStringIncludes(conf.said()[0]!, "the file is 47.7 MiB large, more than 32 MiB");
});

Deno.test("load: what is no file is not waited for", () => {
  using conf = new Case({ "c.yaml": "include: [pipe]\n" + services("a") });
  new Deno.Command("mkfifo", { args: [conf.folder.at("pipe")] }).outputSync();
  conf.load();
  assertMatch(conf.said()[0]!, /pipe.*is not a file/);
});

Deno.test("load: a link to nowhere is a finding", () => {
  using conf = new Case({ "services/a.yaml": services("a"), "c.yaml": "include: [services/]\n" });
  Deno.symlinkSync("nowhere.yaml", conf.folder.at("services/b.yaml"));
  assertEquals(conf.names(), ["a"]);
  assertEquals(conf.said(), ["services/b.yaml: error: the file is not there [config/read]"]);
});

Deno.test("load: thousands of equal findings are counted, not listed", () => {
  using conf = new Case({
    "c.yaml": "services:\n" +
      Array.from({ length: 3000 }, (_, i) => service(`s${i}`, ", labels: { warning: hm }")).join(
        "",
      ),
  });
  const { findings, ok } = conf.load();
  assertEquals([ok, findings.length], [true, 51]);
  assertEquals(findings.at(-1)?.message, "2950 more of the same in this file");
});

Deno.test("load: a variable that is not set is an error, and settings keep variables unexpanded", () => {
  using conf = new Case({
    "c.yaml": 'sinks: [{ address: "${SET}.example:1", headers: { x: "${SET}" } }]\n',
  });
  conf.load();
  assertEquals(conf.last?.settings?.sinks[0]?.address, "${SET}.example:1");
  assertEquals(conf.last?.settings?.sinks[0]?.headers, { x: "${SET}" });
  conf.folder.write("c.yaml", 'sinks: [{ address: "a:1", headers: { x: "${NOT_SET}" } }]\n');
  conf.load();
  assertEquals(conf.said(), [
    "c.yaml:1:38: error: the environment variable NOT_SET is not set; set NOT_SET, or write the text " +
    "itself [config/environment]",
  ]);
});

Deno.test("load: hasChanged sees a new file, a file that is gone, and other content", () => {
  using conf = new Case({ "c.yaml": "include: [s/]\n", "s/a.yaml": services("a") });
  conf.load();
  assertEquals(conf.reader.hasChanged(), false);
  conf.folder.write("s/b.yaml", services("b"));
  assertEquals(conf.reader.hasChanged(), true);
  conf.load();
  assertEquals(conf.reader.hasChanged(), false);
  conf.folder.remove("s/b.yaml");
  assertEquals(conf.reader.hasChanged(), true);
  conf.load();
  conf.folder.write("s/a.yaml", services("c"));
  assertEquals(conf.reader.hasChanged(), true);
  conf.load();
  conf.folder.remove("c.yaml");
  assertEquals(conf.reader.hasChanged(), true);
  conf.load();
  assertEquals(conf.reader.hasChanged(), false);
});

Deno.test("load: a file that holds too many values for its parser is refused unparsed", () => {
  using conf = new Case({ "c.yaml": `services: [${"a,".repeat(6_100_000)}a]\n` });
  const { stats, usable } = conf.load();
  assertEquals([usable, conf.said()], [false, [
    "c.yaml: error: the file holds more than 6000000 values; spread the services over several files " +
    "[config/size]",
  ]]);
  assert(stats.totalMs < 2000, `${stats.totalMs} ms`);
});

Deno.test("load: files that are too large together are refused one by one", () => {
  using conf = new Case({ "c.yaml": "include: [s/]\n", "s/a.yaml": services("a") });
  for (const name of ["b", "c", "d", "e", "f"]) {
    Deno.truncateSync(conf.folder.write(`s/${name}.yaml`, ""), 30 * 1024 * 1024); // of NULs
  }
  assertEquals(conf.names(), ["a"]);
  const said = conf.said();
  assertEquals(said.length, 5);
  for (const line of said.slice(0, 4)) assertStringIncludes(line, "NUL byte");
  assertStringIncludes(said[4]!, "s/f.yaml: error: the files of the configuration are too large");
  assertEquals(conf.reader.hasChanged(), false);
});

Deno.test("load: after a thousand services with errors the rest of a file is not read", () => {
  using conf = new Case({ "c.yaml": `services: [${"a, ".repeat(5000)}a]\n` });
  const { findings } = conf.load();
  assertEquals(findings.length, 52);
  assertStringIncludes(
    conf.said().join("\n"),
    "after 1000 with errors 4001 more services were not read",
  );
});
