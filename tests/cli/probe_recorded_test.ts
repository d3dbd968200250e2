/** The probe asks for what real clients were recorded to ask for, world after world. */
import { assertEquals } from "@std/assert";
import { probeUntil } from "../../lib/cli/probe.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";
import type { ProbeFlags, ProbeProtocol } from "../../lib/cli/probe_flags.ts";
import { XDS_TYPES, xdsTypeByUrl } from "../../lib/model/xds_type.ts";
import { until } from "../interop/lib/wait.ts";
import type { Transcript } from "../interop/replay/transcript.ts";
import { GRPC_TARGET, WORLDS } from "../interop/replay/worlds.ts";
import { KeptScreen } from "./probed_server.ts";
import { ViewedServer } from "./viewed_server.ts";

const RECORDED = new URL("../testdata/recorded/", import.meta.url);

/** From here on a recorded client refuses something, which the probe does not. */
const LAST = "service removed";

/** Names asked for, sorted, by short name of the type; `*`: all. */
type AskedFor = Readonly<Record<string, readonly string[]>>;

const CLIENTS: readonly [file: string, protocol: ProbeProtocol, flags: Partial<ProbeFlags>][] = [
  ["envoy-sotw", "ads", { as: "envoy" }],
  ["envoy-delta", "ads-delta", { as: "envoy" }],
  ["grpc-java-sotw", "ads", { as: "grpc", resource: [GRPC_TARGET] }],
  ["grpc-python-sotw", "ads", { as: "grpc", resource: [GRPC_TARGET] }],
  ["grpc-go-sotw", "ads", { as: "grpc", resource: [GRPC_TARGET] }],
  ["grpc-node-sotw", "ads", { as: "grpc", resource: [GRPC_TARGET] }],
];

for (const [file, protocol, flags] of CLIENTS) {
  Deno.test(`probe: it asks for what was recorded in ${file}, world after world`, async () => {
    const transcript: Transcript = JSON.parse(
      await Deno.readTextFile(new URL(`${file}.json`, RECORDED)),
    );
    const recorded = askedFor(transcript);
    await using server = await ViewedServer.start(config("first"));
    const options = readProbeOptions(server.address, {
      protocol,
      follow: true,
      timeout: "30s",
      format: "names",
      maxMessage: "64MiB",
      ...flags,
    });
    if (typeof options === "string") throw new Error(options);
    const [out, err] = [new KeptScreen(), new KeptScreen()];
    const told = new AbortController();
    const code = probeUntil(options, { out, err }, told.signal);
    for (const world of Object.keys(WORLDS)) {
      await server.configure(config(world));
      await until(`in the world "${world}" it asks for what was recorded`, () => {
        assertEquals(probeAsks(server), recorded.get(world));
        return true;
      }, { deadline: 20_000 });
      if (world === LAST) break;
    }
    told.abort();
    assertEquals([await code, err.text], [0, ""]);
  });
}

function config(world: string): string {
  return JSON.stringify({ services: WORLDS[world] });
}

/** What the probe asks for, as the server sees it. */
function probeAsks({ sessions }: ViewedServer): AskedFor {
  const [session] = sessions.list();
  const subscribed = new Map(session?.subscriptions().map((one) => [one.type, one]));
  return Object.fromEntries(XDS_TYPES.map(({ shortName, typeUrl }) => {
    const subscription = subscribed.get(typeUrl);
    if (subscription === undefined) return [shortName, []];
    if (subscription.names === undefined) return [shortName, ["*"]];
    return [shortName, [...session!.names?.(typeUrl) ?? []].sort()];
  }));
}

/** What was asked for at the end of each world. */
function askedFor({ mode, steps }: Transcript): ReadonlyMap<string, AskedFor> {
  const names = new Map<string, Set<string>>(XDS_TYPES.map(({ shortName }) => [
    shortName,
    new Set(),
  ]));
  const worlds = new Map<string, AskedFor>();
  let world = "first";
  const note = () =>
    worlds.set(
      world,
      Object.fromEntries(Array.from(names, ([type, of]) => [type, [...of].sort()])),
    );
  for (const step of steps) {
    if (step.do === "lost") break; // it says all again from here on
    if (step.do === "world") {
      note();
      world = step.world;
    }
    if (step.do !== "ask") continue;
    const { shortName, wildcard } = xdsTypeByUrl(step.type)!;
    const of = names.get(shortName)!;
    if (mode === "sotw") {
      of.clear();
      for (const name of step.names ?? (wildcard ? ["*"] : [])) of.add(name);
    } else {
      if (of.size === 0 && wildcard && step.subscribe === undefined) of.add("*");
      for (const name of step.subscribe ?? []) of.add(name);
      for (const name of step.unsubscribe ?? []) of.delete(name);
    }
  }
  note();
  return worlds;
}
