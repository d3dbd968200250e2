/**
 * The services beside ADS and MCP, asked by the tools that people use: grpcurl, grpc-health-probe, and
 * grpc-go's own clients of reflection and health.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { XDS_TYPES } from "../../lib/model/xds_type.ts";
import { binary, interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { Process } from "./lib/process.ts";
import { simple } from "./lib/services.ts";
import { XdsClient } from "./lib/xds_client.ts";

const EVERYWHERE = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];
const ON_LISTEN = [
  ...XDS_TYPES.map(({ service }) => service),
  ...EVERYWHERE,
  "envoy.service.discovery.v3.AggregatedDiscoveryService",
  "envoy.service.status.v3.ClientStatusDiscoveryService",
  "istio.mcp.v1alpha1.AggregatedMeshConfigService",
  "istio.mcp.v1alpha1.ResourceSource",
].sort();
const ON_RECEIVE = [...EVERYWHERE, "istio.mcp.v1alpha1.ResourceSink"].sort();

const ENTRY = "networking.istio.io/v1/ServiceEntry";

/** What a tool says, and how it ends. */
interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function run(tool: string, ...args: readonly string[]): Promise<Said> {
  const command = new Deno.Command(binary(tool), { args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: decode(stdout), error: decode(stderr) };
}

/** What grpcurl gives for a call, every Any in it read by what reflection says of its type. */
async function call(
  address: string,
  method: string,
  request: unknown,
): Promise<Record<string, unknown>> {
  const data = JSON.stringify(request);
  const { code, out, error } = await run("grpcurl", "-plaintext", "-d", data, address, method);
  assertEquals([code, error], [0, ""]);
  return JSON.parse(out);
}

/** Messages and enums at the top of every .proto file of ours. */
function definitions(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return definitions(path);
    if (!name.endsWith(".proto")) return [];
    const text = Deno.readTextFileSync(path);
    const scope = /^package ([\w.]+);/m.exec(text)![1]!;
    return [...text.matchAll(/^(?:message|enum) (\w+)/gm)].map(([, one]) => `${scope}.${one}`);
  });
}

interopTest(
  "side services: grpcurl lists and describes every service, on both kinds of address",
  ["grpcurl"],
  async () => {
    const receive = `127.0.0.1:${freePorts(1)[0]}`;
    await using pinnace = await Pinnace.start({
      services: [simple("a")],
      receive: { address: receive },
    });
    for (
      const [address, services] of [[pinnace.address, ON_LISTEN], [receive, ON_RECEIVE]] as const
    ) {
      const { out } = await run("grpcurl", "-plaintext", address, "list");
      assertEquals(out.trim().split("\n"), services);
      for (const service of services) {
        const { code, out, error } = await run(
          "grpcurl",
          "-plaintext",
          address,
          "describe",
          service,
        );
        assertEquals([code, error], [0, ""]);
        assertMatch(out, new RegExp(`^${service} is a service:\nservice \\w+ {\n  rpc `));
      }
    }
  },
);

interopTest(
  "side services: what reflection gives is whole to protobuf-go, and is what Go's own packages have",
  ["side-client"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [simple("a")] });
    const symbols = definitions(new URL("../../proto", import.meta.url).pathname);
    const { code, out, error } = await run(
      "side-client",
      "descriptors",
      pinnace.address,
      ...symbols,
    );
    assertEquals([code, error], [0, ""]);
    const { services, compared, unlike } = JSON.parse(out);
    assertEquals([services, unlike], [ON_LISTEN, []]);
    assert(compared > 150, `${compared} compared`);
  },
);

interopTest(
  "side services: CDS, EDS, LDS and RDS are fetched with grpcurl, which can read every resource",
  ["grpcurl"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [simple("a"), simple("b")] });
    const node = { id: "envoy-1", userAgentName: "envoy" };
    const fetch = async (short: string, resourceNames: readonly string[] = []) => {
      const type = XDS_TYPES.find(({ shortName }) => shortName === short)!;
      const answer = await call(pinnace.address, `${type.service}/Fetch${type.method}`, {
        node,
        resourceNames,
      });
      const resources = answer.resources as Record<string, unknown>[];
      assertEquals(answer.typeUrl, type.typeUrl);
      assertEquals(new Set(resources.map((one) => one["@type"])), new Set([type.typeUrl]));
      return resources;
    };
    const clusters = (await fetch("CDS")).map((one) => one.name as string);
    const hosts = ["a", "b"].map((one) => `outbound|443||${one}.edge.example.com`);
    assertEquals(clusters.filter((name) => name.startsWith("outbound|")).sort(), hosts);
    const endpoints = await fetch("EDS", [hosts[1]!]);
    assertEquals(endpoints.map((one) => one.clusterName), [hosts[1]]);
    assertMatch(JSON.stringify(endpoints), /"address":"10\.1\.0\.1","portValue":8443/);
    assert((await fetch("LDS")).length > 0);
    const routes = await fetch("RDS", ["443"]);
    assertEquals(routes.map((one) => one.name), ["443"]);
    assertMatch(JSON.stringify(routes), /"cluster":"outbound\|443\|\|a\.edge\.example\.com"/);

    const other = await run(
      "grpcurl",
      ...["-plaintext", "-d", JSON.stringify({ node, typeUrl: XDS_TYPES[2]!.typeUrl })],
      ...[pinnace.address, `${XDS_TYPES[0]!.service}/StreamClusters`],
    );
    assertMatch(other.error, /Code: InvalidArgument[^]*envoy\.service\.listener\.v3/);
  },
);

interopTest(
  "side services: grpcurl tells what each client holds, and what it refused",
  ["grpcurl", "xds-client"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [simple("a"), simple("poison")] });
    const names = ["edge/a", "edge/later"];
    await using good = new XdsClient(pinnace.address, { mode: "sotw", types: [ENTRY], names });
    await using picky = new XdsClient(pinnace.address, {
      mode: "delta",
      types: [ENTRY],
      refuse: "/poison$",
    });
    await good.holds(ENTRY, ["edge/a"]);
    const told = async () => {
      const answer = await call(
        pinnace.address,
        "envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus",
        {},
      );
      const config = answer.config as { genericXdsConfigs: Record<string, unknown>[] }[];
      return config.flatMap(({ genericXdsConfigs }) => genericXdsConfigs);
    };
    const entries = await picky.process.expect("its refusal is told", async () => {
      const all = await told();
      return all.length === 3 && all.some((one) => one.clientStatus === "NACKED") && all;
    });
    const brief = entries.map(({ name, clientStatus, configStatus }) =>
      [name, clientStatus, configStatus].filter((one) => one !== undefined).join(" ")
    );
    assertEquals(brief.sort(), [
      "NACKED ERROR",
      "edge/a ACKED SYNCED",
      "edge/later REQUESTED NOT_SENT",
    ]);
    const held = entries.find((one) => one.name === "edge/a")!;
    assertMatch(JSON.stringify(held.xdsConfig), /a\.edge\.example\.com/);
    const refused = entries.find((one) => one.clientStatus === "NACKED")!;
    assertMatch(JSON.stringify(refused.errorState), /poison/);
    assertEquals(good.ends, []);
  },
);

interopTest(
  "side services: grpc-health-probe finds the server and each service serving, and no other",
  ["grpc-health-probe"],
  async () => {
    const receive = `127.0.0.1:${freePorts(1)[0]}`;
    await using pinnace = await Pinnace.start({
      services: [simple("a")],
      receive: { address: receive },
    });
    for (
      const [address, services] of [[pinnace.address, ON_LISTEN], [receive, ON_RECEIVE]] as const
    ) {
      for (const service of ["", ...services]) {
        const { code, error } = await run(
          "grpc-health-probe",
          `-addr=${address}`,
          `-service=${service}`,
        );
        assertEquals([code, error.trim()], [0, "status: SERVING"], service);
      }
      const unknown = await run(
        "grpc-health-probe",
        `-addr=${address}`,
        "-service=no.such.Service",
      );
      assertEquals(unknown.code, 3);
      assertMatch(unknown.error, /NotFound/);
    }
  },
);

interopTest(
  "side services: who watches with grpc-go hears that the server stops before it is gone",
  ["side-client"],
  async () => {
    const receive = `127.0.0.1:${freePorts(1)[0]}`;
    await using pinnace = await Pinnace.start({
      services: [simple("a")],
      receive: { address: receive },
    });
    const watch = (address: string, ...service: string[]) =>
      Process.start({
        name: `watch of ${address}`,
        command: binary("side-client"),
        args: ["watch", address, ...service],
      });
    await using whole = watch(pinnace.address);
    await using one = watch(pinnace.address, ON_LISTEN[0]!);
    await using receiver = watch(receive);
    const all = [whole, one, receiver];
    for (const watching of all) {
      await watching.expectObject("it hears SERVING", ({ status }) => status === "SERVING");
    }
    await pinnace.stop();
    for (const watching of all) {
      await watching.expectObject("its stream ends", ({ event }) => event === "end");
      assertEquals(
        watching.objects.map(({ event, status = "" }) => `${event} ${status}`),
        ["status SERVING", "status NOT_SERVING", "end "],
        watching.name,
      );
      assertMatch(JSON.stringify(watching.objects.at(-1)), /Unavailable/);
    }
  },
);
