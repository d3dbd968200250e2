import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decode, encode, WireError } from "../../lib/wire/codec.ts";
import { arbitraryMessage, root } from "../wire/arbitrary.ts";
import { describeOurs, parseTheirs } from "./protos/describe.ts";
import { differences } from "./protos/differences.ts";
import { GoProgram, withoutGo } from "./protos/go_program.ts";
import { PARTIAL_XDS, PARTLY_CODED_XDS } from "./protos/partial_xds.ts";
import { plainMessage, sparseMessage } from "./protos/plain_value.ts";

const ignore = await withoutGo();
/** Printed by each test that uses it; `PROTOS_SEED` gives another run's back. */
const seed = Number(Deno.env.get("PROTOS_SEED") ?? Date.now() % 2 ** 31);

const MCP = "istio.mcp.v1alpha1";
const ENTRY = "istio.networking.v1alpha3.ServiceEntry";

/** Of MCP, newer Go modules have the messages of resources alone. */
const MCP_RESOURCES = [`${MCP}.Metadata`, `${MCP}.Resource`];

/** What passes between sinks and sources. */
const MCP_MESSAGES = [
  `${MCP}.RequestResources`,
  `${MCP}.Resources`,
  `${MCP}.MeshConfigRequest`,
  `${MCP}.MeshConfigResponse`,
  `${MCP}.IncrementalMeshConfigRequest`,
  `${MCP}.IncrementalMeshConfigResponse`,
];

/** Types of Istio that are MCP's content in every release. */
const ENTRY_TYPES = [
  ENTRY,
  `${ENTRY}.Location`,
  `${ENTRY}.Resolution`,
  "istio.networking.v1alpha3.ServicePort",
  "istio.networking.v1alpha3.WorkloadEntry",
  "istio.networking.v1alpha3.WorkloadSelector",
];

/** Types that newer releases took out of ServiceEntry, and renamed; the wire stayed the same. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  "istio.networking.v1alpha3.ServicePort": "istio.networking.v1alpha3.Port",
  "istio.networking.v1alpha3.WorkloadEntry": `${ENTRY}.Endpoint`,
};

/** All that changed between that release and the current one: additions, and the two new names. */
const SINCE_THEN = [
  `${ENTRY}.Resolution: only we have DNS_ROUND_ROBIN`,
  `${ENTRY}.Resolution: only we have DYNAMIC_DNS`,
  `${ENTRY}.endpoints: typeName is istio.networking.v1alpha3.WorkloadEntry, theirs ${ENTRY}.Endpoint`,
  `${ENTRY}.ports: typeName is istio.networking.v1alpha3.ServicePort, theirs istio.networking.v1alpha3.Port`,
  `${ENTRY}: only they have ${ENTRY}.Endpoint`,
  `${ENTRY}: only we have workload_selector`,
  "istio.networking.v1alpha3.ServicePort: only we have target_port",
  "istio.networking.v1alpha3.WorkloadEntry: only we have service_account",
];

/** Types that travel by themselves or in an Any. */
const CODED = [
  ENTRY,
  "istio.networking.v1alpha3.WorkloadEntry",
  `${MCP}.Resource`,
  "google.rpc.Status",
  "envoy.config.core.v3.Node",
  "envoy.service.discovery.v3.DiscoveryRequest",
  "envoy.service.discovery.v3.DiscoveryResponse",
  "envoy.service.discovery.v3.DeltaDiscoveryRequest",
  "envoy.service.discovery.v3.DeltaDiscoveryResponse",
];

/** Types of which we have only the fields that we make or read; a name with a dot at its end: all of that package. */
const PARTIAL = [
  "istio.networking.v1alpha3.ClientTLSSettings",
  "istio.networking.v1alpha3.ConnectionPoolSettings",
  "istio.networking.v1alpha3.CorsPolicy",
  "istio.networking.v1alpha3.DestinationRule",
  "istio.networking.v1alpha3.Delegate",
  "istio.networking.v1alpha3.HTTPDirectResponse",
  "istio.networking.v1alpha3.HTTPFaultInjection",
  "istio.networking.v1alpha3.HTTPMirrorPolicy",
  "istio.networking.v1alpha3.HTTPRedirect",
  "istio.networking.v1alpha3.HTTPRetry",
  "istio.networking.v1alpha3.HTTPRewrite",
  "istio.networking.v1alpha3.Headers",
  "istio.networking.v1alpha3.LoadBalancerSettings",
  "istio.networking.v1alpha3.LocalityLoadBalancerSetting",
  "istio.networking.v1alpha3.OutlierDetection",
  "istio.networking.v1alpha3.Percent",
  "istio.networking.v1alpha3.TrafficPolicy.PortTrafficPolicy",
  "istio.networking.v1alpha3.TrafficPolicy.ProxyProtocol",
  "istio.networking.v1alpha3.TrafficPolicy.RetryBudget",
  "istio.networking.v1alpha3.TrafficPolicy.TunnelSettings",
  ...PARTIAL_XDS,
];

function isPartial(type: string): boolean {
  return PARTIAL.some((name) => name === type || (name.endsWith(".") && type.startsWith(name)));
}

/** Types that travel by themselves, and hold some of which we have a part. */
const PARTLY_CODED = [
  "istio.networking.v1alpha3.DestinationRule",
  "istio.networking.v1alpha3.VirtualService",
  ...PARTLY_CODED_XDS,
];

/** Those of them that a peer sends to us. */
const REQUESTED = CODED.filter((type) => !type.endsWith("Response"));

interface Line {
  readonly type: string;
  readonly bytes: string;
  readonly value?: object;
  readonly error?: string;
  readonly unknown?: boolean;
}

/** Go's null is a list that is empty. */
function lines(text: string): Line[] {
  const withoutNull = (_key: string, value: unknown) => value === null ? undefined : value;
  return text.trimEnd().split("\n").map((line) => JSON.parse(line, withoutNull));
}

function tell(text: string): void {
  // deno-lint-ignore no-console
  console.log(`  ${text}`);
}

/** What we read of the bytes, in the form in which Go prints it. */
function oursOf(type: string, bytes: Uint8Array): object {
  return plainMessage(root.lookupType(type), decode(type, bytes));
}

Deno.test({
  name: "protos: every field, enum and method is that of today's Istio, Envoy and Google modules",
  ignore,
  async fn() {
    await using go = await GoProgram.build("current");
    const ours = [...describeOurs().values()].filter(({ name }) =>
      !name.startsWith(`${MCP}.`) || MCP_RESOURCES.includes(name)
    );
    const theirs = parseTheirs(await go.run(["describe", ...ours.map((d) => d.name)]));
    const found = ours.map((d) => {
      const all = differences(d, theirs.get(d.name));
      return { ...d, all, wrong: all.filter((line) => !line.includes(": only they have ")) };
    });
    assertEquals(found.flatMap(({ name, all, wrong }) => isPartial(name) ? wrong : all), []);
    assertEquals(
      found.filter((d) => isPartial(d.name) && d.all.length === 0).map((d) => d.name),
      [],
    );
    const fields = ours.reduce((sum, d) => sum + d.fields.length, 0);
    tell(`${fields} fields of ${ours.length} types compared`);
    assert(fields > 350 && theirs.size === ours.length);
  },
});

Deno.test({
  name: "protos: every field and method of MCP is that of the last module that had all of it",
  ignore,
  async fn() {
    await using go = await GoProgram.build("legacy");
    const ours = [...describeOurs().values()].filter(({ name }) =>
      name.startsWith(`${MCP}.`) || ENTRY_TYPES.includes(name)
    );
    const formerly = (name: string) => FORMER_NAMES[name] ?? name;
    const theirs = parseTheirs(await go.run(["describe", ...ours.map((d) => formerly(d.name))]));
    const found = ours.flatMap((d) => differences(d, theirs.get(formerly(d.name))));
    assertEquals(found.sort(), SINCE_THEN);
    const fields = ours.reduce((sum, d) => sum + d.fields.length, 0);
    tell(`${fields} fields of ${ours.length} types compared`);
    assert(fields >= 60);
  },
});

Deno.test({
  name: "protos: what Go encodes we read as Go does, and Go reads what we make of it",
  ignore,
  async fn() {
    tell(`seed ${seed}`);
    await using go = await GoProgram.build("current");
    const made = lines(await go.run(["generate", `${seed}`, "100", ...CODED]));
    assertEquals(made.length, 100 * CODED.length);
    for (const { type, bytes, value } of made) {
      assertEquals(oursOf(type, Uint8Array.fromBase64(bytes)), value);
    }
    const again = made.map(({ type, bytes }) => ({
      type,
      bytes: encode(type, decode(type, Uint8Array.fromBase64(bytes))).toBase64(),
    }));
    const read = lines(await go.run(["read"], jsonLines(again)));
    assertEquals(read.map((l) => l.value), made.map((l) => l.value));
    const later = made.filter((l) => l.unknown).length;
    tell(`${made.length} messages, ${later} of them with fields of a later release`);
    assert(later > 50 && read.every((l) => l.unknown !== true));
  },
});

Deno.test({
  name: "protos: what we encode Go reads as we do, and we read what Go makes of it",
  ignore,
  async fn() {
    tell(`seed ${seed}`);
    await using go = await GoProgram.build("current");
    const made = madeByUs(CODED);
    const read = lines(await go.run(["read"], jsonLines(made)));
    assertEquals(read.length, made.length);
    read.forEach((line, i) => {
      const { type, value } = made[i]!;
      assertEquals(line.error, undefined);
      assert(line.unknown !== true, `${type}: Go knows every field we write`);
      assertEquals(line.value, plainMessage(root.lookupType(type), value));
      assertEquals(decode<object>(type, Uint8Array.fromBase64(line.bytes)), value);
    });
    tell(`${made.length} messages`);
  },
});

Deno.test({
  name: "protos: of types that we have a part of, Go reads what we encode as we do",
  ignore,
  async fn() {
    tell(`seed ${seed}`);
    await using go = await GoProgram.build("current");
    const made = madeByUs(PARTLY_CODED);
    const read = lines(await go.run(["read"], jsonLines(made)));
    assertEquals(read.length, made.length);
    read.forEach((line, i) => {
      const { type, value } = made[i]!;
      assertEquals(line.error, undefined);
      assert(line.unknown !== true, `${type}: Go knows every field we write`);
      const plain = plainMessage(root.lookupType(type), value);
      assertEquals(partOf(line.value, plain), plain);
      assertEquals(decode<object>(type, Uint8Array.fromBase64(line.bytes)), value);
    });
    tell(`${made.length} messages`);
  },
});

/** Of a message, at all depths, the fields that ours has. */
function partOf(theirs: unknown, ours: unknown): unknown {
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    return theirs.map((item, i) => partOf(item, ours[i]));
  }
  if (!isObject(theirs) || !isObject(ours)) return theirs;
  const fields = Object.keys(ours).filter((name) => Object.hasOwn(theirs, name));
  return Object.fromEntries(fields.map((name) => [name, partOf(theirs[name], ours[name])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

Deno.test({
  name:
    "protos: MCP's requests and responses, which Go has in an old module alone, both read alike",
  ignore,
  async fn() {
    tell(`seed ${seed}`);
    await using go = await GoProgram.build("legacy");
    const made = madeByUs(MCP_MESSAGES);
    const read = lines(await go.run(["read"], jsonLines(made)));
    assertEquals(read.length, made.length);
    read.forEach((line, i) => {
      const { type, value } = made[i]!;
      assertEquals(line.error, undefined);
      assertEquals(line.value, sparseMessage(root.lookupType(type), value));
      assertEquals(decode<object>(type, Uint8Array.fromBase64(line.bytes)), value);
    });
    tell(`${made.length} messages`);
  },
});

Deno.test({
  name: "protos: bytes that are no message are refused by both, others read alike",
  ignore,
  async fn() {
    tell(`seed ${seed}`);
    await using go = await GoProgram.build("current");
    const broken = lines(await go.run(["generate", `${seed}`, "300", ...REQUESTED]))
      .map((line, i) => ({ type: line.type, bytes: damaged(line.bytes, seed + i) }));
    const read = lines(await go.run(["read"], jsonLines(broken)));
    let refused = 0;
    broken.forEach(({ type, bytes }, i) => {
      const line = read[i]!;
      let ours: object | undefined;
      try {
        ours = oursOf(type, Uint8Array.fromBase64(bytes));
      } catch (error) {
        assert(error instanceof WireError);
        refused++;
      }
      if (line.error !== undefined && overflows(Uint8Array.fromBase64(bytes))) return;
      assertEquals(ours, line.value, `${type} ${bytes}: ${line.error}`);
    });
    tell(`${broken.length} messages with bytes changed, ${refused} of them refused`);
    assert(refused > 100 && refused < broken.length - 100);
  },
});

/** Whether a varint may be in there with more than 64 bits: Go refuses it, protobufjs (as C++) drops them. */
function overflows(bytes: Uint8Array): boolean {
  return /(?:[89a-f][0-9a-f]){9}(?:0[2-9a-f]|[1-7][0-9a-f])/.test(bytes.toHex());
}

interface Made {
  readonly type: string;
  readonly value: object;
  readonly bytes: string;
}

/** A hundred random messages of each type. */
function madeByUs(types: readonly string[]): Made[] {
  return types.flatMap((type) =>
    fc.sample(arbitraryMessage(root.lookupType(type)), { numRuns: 100, seed })
      .map((value) => ({ type, value, bytes: encode(type, value).toBase64() }))
  );
}

function jsonLines(list: readonly { type: string; bytes: string }[]): string {
  return list.map(({ type, bytes }) => JSON.stringify({ type, bytes })).join("\n");
}

/** The same bytes with up to three of them changed, or cut short. */
function damaged(base64: string, salt: number): string {
  const bytes = Uint8Array.fromBase64(base64);
  let state = salt >>> 0;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  if (random(4) === 0) return bytes.subarray(0, random(bytes.length + 1)).toBase64();
  for (let i = 0; i <= random(3) && bytes.length > 0; i++) {
    bytes[random(bytes.length)] = random(256);
  }
  return bytes.toBase64();
}
