import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { folder, pinnace } from "./command.ts";
import { Running, sourceLaunch } from "./running.ts";

const GOOD = `services:
  - name: orders
    ports: ["443:8443/GRPC"]
    endpoints: [192.0.2.1]
  - name: billing
    namespace: shop
    ports: [{ name: http, number: 80, protocol: HTTP }]
    endpoints: [192.0.2.2]
`;

Deno.test("command line: a misspelt option gets a suggestion and exit code 2", async () => {
  const { code, stderr } = await pinnace("--confg", "x.yaml");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "unknown option '--confg'\n(Did you mean --config?)");
});

Deno.test("command line: a misspelt command gets a suggestion and exit code 2", async () => {
  const { code, stderr } = await pinnace("rendr", "--config", "x.yaml");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "unknown command 'rendr'\n(Did you mean render?)");
});

Deno.test("command line: without a configuration it says how to name one", async () => {
  for (const args of [[], ["run"], ["validate"], ["render"]]) {
    const { code, stderr } = await pinnace(...args);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "name a configuration: --config");
  }
});

Deno.test("command line: docs/commands.md explains every option", async () => {
  const docs = await Deno.readTextFile("docs/commands.md");
  const explained = new Set(docs.match(/--[a-z][a-z-]+/g));
  for (const command of [["run"], ["render"], ["status"], ["probe"], ["snapshots", "confirm"]]) {
    const { stdout } = await pinnace(...command, "--help");
    const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name!);
    assertEquals(options.length > 1, true);
    assertEquals(options.filter((name) => name !== "--help" && !explained.has(name)), []);
  }
});

Deno.test("command line: what asks a running Pinnace needs --admin or --config, not both", async () => {
  for (const args of [["status"], ["snapshots", "list"], ["snapshots", "confirm", "x"]]) {
    const neither = await pinnace(...args);
    assertEquals(neither.code, 2);
    assertStringIncludes(neither.stderr, "--admin host:port, or --config services.yaml");
    const admin = await pinnace(...args, "--admin", "127.0.0.1:2");
    assertEquals([admin.code, admin.stdout], [1, ""]);
    assertStringIncludes(admin.stderr, "error: no Pinnace answers on 127.0.0.1:2");
  }
});

Deno.test("command line: a wrong option of status or probe is exit code 2, before anything is dialled", async () => {
  const wrong: [string[], string][] = [
    [["status", "--admin", "a:1", "--format", "xml"], "Allowed choices are text, json"],
    [["probe"], "missing required argument 'address'"],
    [["probe", "nowhere"], "error: nowhere is not host:port"],
    [["probe", "a:1", "--protocol", "http"], "Allowed choices are mcp, ads, ads-delta"],
    [["probe", "a:1", "--timeout", "soon"], "--timeout is a duration"],
    [["probe", "a:1", "--folow"], "Did you mean --follow?"],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await pinnace(...args);
    assertEquals([args.join(" "), code], [args.join(" "), 2]);
    assertStringIncludes(stderr, message);
  }
});

Deno.test("command line: an option without its value is no folder that one happens to be in", async () => {
  for (const args of [["--config", ""], ["--config", "x.yaml", "--store", ""]]) {
    const { code, stderr } = await pinnace(...args);
    assertEquals(code, 2);
    assertStringIncludes(stderr, `error: ${args.at(-2)} is empty`);
  }
});

Deno.test("command line: --version is that of deno.json, --help names every command", async () => {
  const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
  assertEquals(await pinnace("--version"), { code: 0, stdout: `pinnace ${version}\n`, stderr: "" });
  const help = await pinnace("--help");
  assertEquals(help.code, 0);
  for (
    const word of [
      "--config",
      "--store",
      "run",
      "validate",
      "render",
      "status",
      "probe",
      "snapshots",
    ]
  ) {
    assertStringIncludes(help.stdout, word);
  }
});

Deno.test("validate: a good configuration is fine, exit code 0", async () => {
  await using dir = await folder({ "p.yaml": GOOD });
  const { code, stdout, stderr } = await pinnace("validate", "--config", `${dir.path}/p.yaml`);
  assertEquals([code, stdout, stderr], [0, "", "2 services in 1 file: fine\n"]);
});

Deno.test("validate: what is wrong is said with file, line and column, exit code 1", async () => {
  await using dir = await folder({ "p.yaml": GOOD.replace("number: 80", "number: 0") });
  const { code, stdout } = await pinnace("validate", "--config", `${dir.path}/p.yaml`);
  assertEquals(code, 1);
  assertMatch(stdout, /p\.yaml:7:\d+: error: .*\[/);
});

Deno.test("render: prints every resource in the order of names, or those named", async () => {
  await using dir = await folder({ "p.yaml": GOOD });
  const all = await pinnace("render", "--config", `${dir.path}/p.yaml`);
  assertEquals(all.code, 0);
  assertEquals([...all.stdout.matchAll(/^ {2}name: (.*)$/gm)].map(([, n]) => n), [
    "orders",
    "billing",
  ]);
  const one = await pinnace("render", "--config", `${dir.path}/p.yaml`, "shop/billing");
  assertEquals([...one.stdout.matchAll(/^ {2}name: (.*)$/gm)].map(([, n]) => n), ["billing"]);
  const none = await pinnace("render", "--config", `${dir.path}/p.yaml`, "billing");
  assertEquals(none.code, 1);
  assertStringIncludes(none.stderr, "no resource is named billing");
});

Deno.test("render: a service is printed with what directs its traffic", async () => {
  const endpoint = "{ address: 192.0.2.1, labels: { version: v1 } }";
  const split = (name: string) =>
    `  - { name: ${name}, hosts: [${name}.example, "*.${name}.example"], ports: [80/HTTP], ` +
    `endpoints: [${endpoint}], split: { v1: 1 } }\n`;
  await using dir = await folder({ "p.yaml": `services:\n${split("b")}${split("a")}` });
  const printed = async (...names: string[]) => {
    const { stdout, code } = await pinnace("render", "--config", `${dir.path}/p.yaml`, ...names);
    assertEquals(code, 0);
    const found = stdout.matchAll(/^kind: (.*)\nmetadata:\n {2}name: (.*)$/gm);
    return [...found].map(([, kind, name]) => `${kind} ${name}`);
  };
  const of = (name: string) => [
    `ServiceEntry ${name}`,
    `VirtualService ${name}`,
    `DestinationRule ${name}`,
    `DestinationRule ${name}-host-2`,
  ];
  assertEquals(await printed(), [...of("a"), ...of("b")]);
  assertEquals(await printed("default/b"), of("b"));
  assertEquals(await printed("default/a-host-2", "default/a"), [
    "DestinationRule a-host-2",
    ...of("a").slice(0, 3),
  ]);
});

Deno.test("validate, render: where nothing is our own it is fine, and said that others give the rest", async () => {
  const pulled = Array.from({ length: 5 }, (_, i) => `"xds://hub-${i}.example:15010"`).join(", ");
  await using dir = await folder({
    "receive.yaml": 'receive: "127.0.0.1:9901"\n',
    "pull.yaml": `include: [${pulled}]\n`,
    "both.yaml": `receive: "127.0.0.1:9901"\ninclude: ["xds://hub-0.example:15010"]\n${GOOD}`,
  });
  const note = (others: string) =>
    `this is what our own files give; what other sources do (${others}) is checked and served as it comes\n`;
  const hub = "xds://hub-0.example:15010";
  const hubs = [0, 1, 2].map((i) => `xds://hub-${i}.example:15010`).join(", ");
  for (
    const [file, services, elsewhere] of [
      ["receive", 0, note("receive 127.0.0.1:9901")],
      ["pull", 0, note(`${hubs}, 2 more`)],
      ["both", 2, note(`receive 127.0.0.1:9901, ${hub}`)],
    ] as const
  ) {
    const config = `${dir.path}/${file}.yaml`;
    const validated = await pinnace("validate", "--config", config);
    assertEquals(validated, {
      code: 0,
      stdout: "",
      stderr: `${services} services in 1 file: fine\n${elsewhere}`,
    });
    const rendered = await pinnace("render", "--config", config);
    assertEquals([rendered.code, rendered.stderr], [0, elsewhere]);
    assertEquals(rendered.stdout.match(/^---$/gm)?.length ?? 0, services);
  }
  const both = `${dir.path}/both.yaml`;
  assertEquals((await pinnace("render", "--config", both, "shop/billing")).stderr, "");
  const { code, stderr } = await pinnace("render", "--config", both, "shop/elsewhere");
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^no resource is named shop\/elsewhere; .*\nthis is what our own files give; /,
  );
});

Deno.test("run: with neither a configuration nor a store it exits 1 and says why", async () => {
  await using dir = await folder({});
  const missing = await pinnace("--config", `${dir.path}/nope.yaml`, "--store", `${dir.path}/s`);
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.stderr, "nope.yaml is not there");
  assertStringIncludes(missing.stderr, "there is nothing to serve");
});

Deno.test("run: with receive alone it starts, says that no port serves anybody, and is ready", async () => {
  await using running = await Running.prepare(await sourceLaunch());
  await Deno.writeTextFile(
    running.config,
    `receive: "127.0.0.1:0"\nlisten: []\nadmin: "${running.admin}"\n`,
  );
  await running.run();
  await running.logged(/no port for sinks and clients is open: `listen` names none +services=0/);
  await running.logged(/taking from sources that dial +receive=127\.0\.0\.1:\d+/);
});
