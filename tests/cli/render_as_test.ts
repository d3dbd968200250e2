import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { loadAll } from "js-yaml";
import { type RenderAsOptions, renderAsWith } from "../../lib/cli/render_as.ts";
import { folder, pinnace } from "./command.ts";
import { KeptScreen } from "./probed_server.ts";

const CONFIG = `services:
  - name: orders
    ports: ["50051/GRPC"]
    endpoints:
      - { address: 192.0.2.1, labels: { version: v1 } }
      - { address: 192.0.2.2, labels: { version: v2 } }
      - { address: 192.0.2.3, labels: { version: v2 }, drain: true }
    split: { v1: 80, v2: 20 }
  - name: billing
    namespace: shop
    ports: ["80/HTTP"]
    endpoints: [billing.example, other.example]
`;

const OPTIONS: Omit<RenderAsOptions, "config"> = {
  as: "envoy",
  types: [],
  resources: [],
  format: "names",
  resolve: false,
};

const nobody = () => Promise.reject(new Error("nobody looks names up"));

async function run(
  options: Partial<RenderAsOptions>,
  look: (host: string) => Promise<readonly string[]> = nobody,
  config = CONFIG,
) {
  await using dir = await folder({ "p.yaml": config });
  const [out, err] = [new KeptScreen(), new KeptScreen()];
  const { signal } = new AbortController();
  const all = { config: `${dir.path}/p.yaml`, ...OPTIONS, ...options };
  const code = await renderAsWith(all, { out, err, look, signal });
  return { code, out: out.text, err: err.text };
}

interface Typed {
  readonly "@type": string;
  readonly name?: string;
}

Deno.test("render as: each kind of client gets types of its own, in the order CDS, EDS, LDS, RDS", async () => {
  const kinds = async (as: RenderAsOptions["as"]) => {
    const { code, out } = await run({ as });
    assertEquals(code, 0);
    return [...new Set(out.trimEnd().split("\n").map((line) => line.split("/")[0]))];
  };
  const all = ["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration"];
  assertEquals(await kinds("envoy"), all);
  assertEquals(await kinds("grpc"), all);
  assertEquals(await kinds("dubbo"), all.slice(1));
});

Deno.test("render as: YAML is a document a resource, of types that Envoy knows", async () => {
  const { out } = await run({ format: "yaml" });
  const documents = loadAll(out) as Typed[];
  assert(documents.length > 6);
  for (const { "@type": type } of documents) {
    assertMatch(type, /^type\.googleapis\.com\/envoy\.config\.\w+\.v3\./);
  }
});

Deno.test("render as: JSON is a line a resource", async () => {
  const { out } = await run({ format: "json", types: ["RDS"], resources: ["50051"] });
  const [line, ...more] = out.trimEnd().split("\n");
  assertEquals(more, []);
  const { name, virtualHosts: [host] } = JSON.parse(line!);
  assertEquals(name, "50051");
  assertStringIncludes(JSON.stringify(host.routes), '"weight":80');
});

Deno.test("render as: text says what each is about", async () => {
  const { out } = await run({ format: "text", types: ["EDS"] });
  assertMatch(out, /^type\.googleapis\.com\/envoy\.config\.endpoint\.v3\.ClusterLoadAssignment\n/);
  assertMatch(out, /3 endpoints: 192\.0\.2\.1:50051, .*192\.0\.2\.3:50051, 1 draining$/m);
});

Deno.test("render as: types and resources are chosen by name; what is not there is a failure", async () => {
  const chosen = await run({ types: ["RouteConfiguration", "LDS"], resources: ["50051"] });
  assertEquals([chosen.code, chosen.out], [0, "RouteConfiguration/50051\n"]);
  const none = await run({ types: ["RDS"], resources: ["50051", "9"] });
  assertEquals([none.code, none.out], [1, "RouteConfiguration/50051\n"]);
  assertMatch(none.err, /^no RouteConfiguration for Envoys is named 9$/m);
  const wrong = await run({ types: ["SDS"] });
  assertEquals([wrong.code, wrong.out], [2, ""]);
  assertEquals(wrong.err, "error: --type is one of CDS, EDS, LDS, RDS, not SDS\n");
});

Deno.test("render as: names are looked up only where that is asked for", async () => {
  const without = await run({ as: "dubbo", format: "text", types: ["EDS"] });
  assertMatch(
    without.err,
    /^a server would look up billing\.example, other\.example for these clients; --resolve looks them up now$/m,
  );
  const asked: string[] = [];
  const look = (host: string) => {
    asked.push(host);
    return host === "other.example"
      ? Promise.reject(new Error("no such name"))
      : Promise.resolve(["192.0.2.8", "192.0.2.7", "192.0.2.8"]);
  };
  const options = { as: "dubbo", format: "text", types: ["EDS"], resolve: true } as const;
  const { code, out, err } = await run(options, look);
  assertEquals([code, asked.toSorted()], [0, ["billing.example", "other.example"]]);
  assertStringIncludes(out, "2 endpoints: 192.0.2.7:80, 192.0.2.8:80");
  assertMatch(err, /^warning: other\.example is not found: no such name$/m);
  assert(!err.includes("--resolve"), err);
});

Deno.test("render as: what these clients do not get is said as a warning, and is no failure", async () => {
  const { code, err } = await run({ as: "dubbo" });
  assertEquals(code, 0);
  assertMatch(err, /^warning: default\/orders: for Dubbo applications: .* \[view\/\S+\]$/m);
});

Deno.test("render as: an error of the configuration leaves its service out and is a failure", async () => {
  const broken = CONFIG.replace("80/HTTP", "0/HTTP");
  const { code, out, err } = await run({ types: ["CDS"] }, nobody, broken);
  assertEquals(code, 1);
  assertMatch(err, /p\.yaml:\d+:\d+: error: /);
  assert(!out.includes("billing"), out);
});

Deno.test("render as: told to stop while names are looked up, it does", async () => {
  await using dir = await folder({ "p.yaml": CONFIG });
  const [out, err] = [new KeptScreen(), new KeptScreen()];
  const told = new AbortController();
  const looking = Promise.withResolvers<void>();
  const look = () => {
    looking.resolve();
    return new Promise<never>(() => {});
  };
  const options = { config: `${dir.path}/p.yaml`, ...OPTIONS, as: "dubbo", resolve: true } as const;
  const done = renderAsWith(options, { out, err, look, signal: told.signal });
  await looking.promise;
  told.abort();
  await assertRejects(() => done, DOMException);
});

Deno.test("render as: on the command line", async () => {
  await using dir = await folder({ "p.yaml": CONFIG });
  const config = `${dir.path}/p.yaml`;
  const { code, stdout } = await pinnace(
    ...["render", "--config", config, "--as", "grpc", "--format", "names", "--type", "RDS"],
  );
  assertEquals(code, 0);
  assertMatch(stdout, /^RouteConfiguration\/billing\.shop\.svc\.cluster\.local:80$/m);
  const wrong: [string[], string][] = [
    [["--type", "CDS"], "--type goes with --as envoy, grpc or dubbo"],
    [["--resolve"], "--resolve goes with --as"],
    [["--as", "nginx"], "Allowed choices are envoy, grpc, dubbo"],
    [["--as", "envoy", "default/orders"], "named by --resource"],
    [["--as", "envoy", "--type", "SDS"], "--type is one of CDS, EDS, LDS, RDS"],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await pinnace("render", "--config", config, ...args);
    assertEquals([args.join(" "), code], [args.join(" "), 2]);
    assertStringIncludes(stderr, message);
  }
});

Deno.test("render as: on a terminal it shows how many names are looked up, and clears that away", async () => {
  await using dir = await folder({ "p.yaml": CONFIG });
  const [out, err] = [new KeptScreen(), new KeptScreen({ isTerminal: true })];
  const options = { config: `${dir.path}/p.yaml`, ...OPTIONS, as: "dubbo", resolve: true } as const;
  const look = () => Promise.resolve(["192.0.2.7"]);
  await renderAsWith(options, { out, err, look, signal: new AbortController().signal });
  const cleared = "\r\x1b[K";
  assertStringIncludes(err.text, `${cleared}looking names up: 1 of 2${cleared}`);
  assert(!err.text.endsWith("of 2"), err.text);
});
