/** Looking at a running Pinnace, as a person does: with the commands, and permissions, of the program. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventsSchema } from "../../lib/admin/events.ts";
import { probeUntil } from "../../lib/cli/probe.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";
import { Process } from "../interop/lib/process.ts";
import { until } from "../interop/lib/wait.ts";
import { pinnace } from "./command.ts";
import { Peer, SPEECHES } from "./peer.ts";
import { KeptScreen } from "./probed_server.ts";
import { Running, sourceLaunch } from "./running.ts";

const service = (address: string) =>
  `services:\n  - name: orders\n    ports: [443/GRPC]\n    endpoints: [${address}]\n`;

Deno.test("looking: probe, status, log and events tell one story of a change", async (t) => {
  await using running = await Running.start(await sourceLaunch(), service("192.0.2.1"));
  const { address, admin } = running;
  using sotw = await Peer.open(address, SPEECHES.sotw);
  using mcp = await Peer.open(address, SPEECHES.mcp);
  for (const peer of [sotw, mcp]) await peer.holds({ "default/orders": ["192.0.2.1"] });

  await t.step("a probe shows what is served", async () => {
    for (const protocol of ["mcp", "ads", "ads-delta"]) {
      const { code, stdout, stderr } = await pinnace(
        ...["probe", address, "--protocol", protocol, "--format", "names"],
      );
      assertEquals([code, stdout, stderr], [0, "ServiceEntry/default/orders\n", ""]);
    }
  });

  await t.step(
    "a probe shows what clients get that are no istiod, and so does rendering",
    async () => {
      for (
        const client of [["envoy"], ["grpc", "--resource", "orders.default.svc.cluster.local"]]
      ) {
        const probed = await pinnace("probe", address, "--format", "names", "--as", ...client);
        assertEquals([probed.code, probed.stderr], [0, ""]);
        const type = ["--type", "EDS", "--format", "names"];
        const rendered = await pinnace(
          ...["render", "--config", running.config, "--as", client[0]!, ...type],
        );
        assertEquals(rendered.code, 0);
        const endpoints = /^ClusterLoadAssignment\/.*$/gm;
        assertEquals(probed.stdout.match(endpoints), rendered.stdout.match(endpoints));
        assertEquals(probed.stdout.match(endpoints)?.length, 1);
      }
    },
  );

  await t.step("a change is told with its file, its names and its answers", async () => {
    await running.write(service("192.0.2.2"));
    for (const peer of [sotw, mcp]) await peer.holds({ "default/orders": ["192.0.2.2"] });
    const event = await until("both have answered", async () => {
      const answer = await running.get("/api/v1/events?limit=1");
      const [newest] = eventsSchema.parse(JSON.parse(answer.text)).events;
      return newest?.answers.acks === 2 && newest;
    });
    assertEquals(event.causes, [{ kind: "file", name: "pinnace.yaml", what: "changed" }]);
    assertEquals(event.services.changed, { count: 1, names: ["default/orders"] });
    assertEquals([event.answers.pending, event.answers.nacks], [0, 0]);
    await running.logged(/"published".*"changed":"\+0 ~1 -0: default\/orders"/);
    await running.logged(/"published".*"files":"pinnace\.yaml"/);
    await running.logged(/every peer has answered the change.*"acks":2/);
  });

  await t.step("the status shows peers, versions and the change", async () => {
    const { code, stdout } = await pinnace("status", "--admin", admin);
    assertEquals(code, 0);
    assertMatch(stdout, /smoke +ads +istio +ServiceEntry +([0-9a-f]{8}) +\1/);
    assertMatch(stdout, /smoke +mcp-source +istio +ServiceEntry +([0-9a-f]{8}) +\1/);
    assertMatch(stdout, /\+0 ~1 -0 +\+0 ~1 -0 +2 ACK, in \w+ +pinnace\.yaml/);
  });

  await t.step("a refusal is in the status while its peer is there", async () => {
    const options = readProbeOptions(address, {
      protocol: "mcp",
      collection: ["ServiceEntry"],
      nack: "not today",
      follow: true,
      node: "picky",
      timeout: "30s",
      format: "names",
      maxMessage: "1MiB",
    });
    if (typeof options === "string") throw new Error(options);
    const told = new AbortController();
    const screens = { out: new KeptScreen(), err: new KeptScreen() };
    const picky = probeUntil(options, screens, told.signal);
    await until("the status shows it", async () => {
      const { peers } = await running.status();
      return peers.some(({ node, subscriptions: [one] }: {
        node: string;
        subscriptions: { lastNack?: string }[];
      }) => node === "picky" && one?.lastNack === "not today");
    });
    const { code, stdout } = await pinnace("status", "--config", running.config);
    assertEquals(code, 0);
    assertStringIncludes(stdout, "not today");
    told.abort();
    assertEquals(await picky, 0);
    await running.logged(/refused by the peer \(NACK\).*"reason":"not today"/);
  });

  await t.step("what is watched or followed ends with Ctrl-C, as it should", async () => {
    const { command, args, cwd } = await sourceLaunch();
    const watches = [
      ["status", "--admin", admin, "--watch"],
      ["probe", address, "--collection", "ServiceEntry", "--follow"],
    ];
    for (const own of watches) {
      await using process = Process.start({ name: own[0]!, command, args: [...args, ...own], cwd });
      await process.expect("it shows something", () => process.text.length > 0);
      process.signal("SIGINT");
      assertEquals([own[0], (await process.end()).code], [own[0], 0]);
    }
  });
});
