/**
 * Holds the client of ADS to transcripts in tests/testdata/transcripts/ads_client:
 *
 * - `request: …` is the next request, as it goes over the wire; fields not given are empty.
 * - `response: …` is the head of a response; `means` is `unasked`, or part of why it is unfit.
 * - `accept: a` and `refuse: { nonce: a, message: … }` are verdicts.
 * - `ask: Sidecar` asks for a further type.
 * - `rename: { EDS: [a, b] }` asks for these names of a type from now on.
 * - `goOn: true` stops waiting for an answer; `status` compares parts of the status.
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { load } from "js-yaml";
import { kindByName } from "../../lib/model/kind.ts";
import {
  AdsClientMachine,
  type AdsRequest,
  type AdsType,
  type AdsVariant,
} from "../../lib/protocol/ads_client.ts";
import { deltaDiscoveryRequestCodec, discoveryRequestCodec } from "../../lib/wire/messages.ts";
import { ENVOY_TYPES } from "./fixtures.ts";

const FOLDER = new URL("../testdata/transcripts/ads_client/", import.meta.url);
const NODE = { id: "client-1", userAgentName: "pinnace" };

interface Transcript {
  readonly title: string;
  readonly types: readonly (string | { readonly type: string; readonly names: string[] })[];
  readonly held?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly oneByOne?: boolean;
  readonly steps: readonly Step[];
}

interface Verdict {
  readonly type?: string;
  readonly nonce: string;
  readonly code?: number;
  readonly message?: string;
}

interface Step {
  readonly request?: "nothing" | Partial<Asked>;
  readonly response?: {
    readonly type: string;
    readonly version: string;
    readonly nonce: string;
    readonly means?: string;
  };
  readonly accept?: string | Verdict;
  readonly refuse?: Verdict;
  readonly ask?: string;
  readonly rename?: Readonly<Record<string, readonly string[]>>;
  readonly goOn?: true;
  readonly status?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A request, both variants alike; what is empty is left out. */
interface Asked {
  readonly type: string;
  readonly node: true;
  readonly version: string;
  readonly nonce: string;
  readonly names: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
  readonly error: { readonly code: number; readonly message: string };
}

for (const name of ["sotw", "delta"]) {
  const text = Deno.readTextFileSync(new URL(`${name}.yaml`, FOLDER));
  const file = load(text) as { variant: AdsVariant; transcripts: Transcript[] };
  for (const transcript of file.transcripts) {
    Deno.test(`ads client, ${name}: ${transcript.title}`, () => run(file.variant, transcript));
  }
}

function run(variant: AdsVariant, transcript: Transcript): void {
  const held = new Map(
    Object.entries(transcript.held ?? {}).map(([kind, versions]) => [urlOf(kind), versions]),
  );
  const machine = new AdsClientMachine({
    variant,
    node: NODE,
    types: transcript.types.map(typeOf),
    initial: (type) => held.get(type) ?? {},
    ...(transcript.oneByOne === undefined ? {} : { oneByOne: transcript.oneByOne }),
  });
  const waiting = new Map<string, string>(); // nonce → type, of the latest
  transcript.steps.forEach((step, index) => {
    try {
      take(machine, step, waiting);
    } catch (error) {
      throw new Error(`step ${index + 1}, ${JSON.stringify(step)}: ${error}`, { cause: error });
    }
  });
}

function take(machine: AdsClientMachine, step: Step, waiting: Map<string, string>): void {
  const [key, ...more] = Object.keys(step);
  assertEquals(more, [], "a step is one thing");
  if (step.request !== undefined) {
    const next = machine.next();
    if (step.request === "nothing") return assertEquals(next, undefined);
    assert(next !== undefined, "no request is due");
    assertEquals<unknown>(onTheWire(next), { ...step.request, type: urlOf(step.request.type!) });
  } else if (step.response !== undefined) {
    const { means = "response", ...head } = step.response;
    const received = machine.receive({ ...head, type: urlOf(head.type) });
    if (received.kind === "unfit") return assertStringIncludes(received.message, means);
    assertEquals(received.kind, means);
    waiting.set(head.nonce, head.type);
  } else if (step.accept !== undefined) {
    const verdict = typeof step.accept === "string" ? { nonce: step.accept } : step.accept;
    machine.settle(urlOf(verdict.type ?? waiting.get(verdict.nonce)!), verdict.nonce);
  } else if (step.refuse !== undefined) {
    const { nonce, code = 3, message = "", type = waiting.get(nonce)! } = step.refuse;
    machine.settle(urlOf(type), nonce, { code, message, details: [] });
  } else if (step.ask !== undefined) machine.ask(typeOf(step.ask));
  else if (step.rename !== undefined) {
    for (const [type, names] of Object.entries(step.rename)) machine.rename(urlOf(type), names);
  } else if (step.goOn !== undefined) machine.goOn();
  else if (step.status !== undefined) compare(machine, step.status);
  else throw new Error(`unknown step ${key}`);
}

function compare(machine: AdsClientMachine, expected: NonNullable<Step["status"]>): void {
  for (const [type, parts] of Object.entries(expected)) {
    const status = machine.status().find((one) => one.type === urlOf(type));
    const found: Record<string, unknown> = { ...status };
    const compared = Object.fromEntries(Object.keys(parts).map((key) => [key, found[key] ?? null]));
    assertEquals<unknown>(compared, parts);
  }
}

/** A request as its server reads it. */
function onTheWire(request: AdsRequest): Partial<Asked> {
  if (request.variant === "sotw") {
    const read = discoveryRequestCodec.decode(discoveryRequestCodec.encode(request.message));
    return said({ ...read, names: read.resourceNames, version: read.versionInfo });
  }
  const read = deltaDiscoveryRequestCodec.decode(
    deltaDiscoveryRequestCodec.encode(request.message),
  );
  return said({
    ...read,
    names: read.resourceNamesSubscribe,
    unsubscribe: read.resourceNamesUnsubscribe,
    versions: { ...read.initialResourceVersions },
  });
}

function said(read: {
  typeUrl: string;
  node?: { id: string; userAgentName: string };
  responseNonce: string;
  errorDetail?: { code: number; message: string };
  names: readonly string[];
  version?: string;
  unsubscribe?: readonly string[];
  versions?: Record<string, string>;
}): Partial<Asked> {
  const { node, errorDetail: error, unsubscribe = [], versions = {}, version = "" } = read;
  if (node !== undefined) {
    assertEquals({ id: node.id, userAgentName: node.userAgentName }, NODE);
  }
  return {
    type: read.typeUrl,
    ...(node === undefined ? {} : { node: true }),
    ...(version === "" ? {} : { version }),
    ...(read.responseNonce === "" ? {} : { nonce: read.responseNonce }),
    ...(read.names.length === 0 ? {} : { names: read.names }),
    ...(unsubscribe.length === 0 ? {} : { unsubscribe }),
    ...(Object.keys(versions).length === 0 ? {} : { versions }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
}

function typeOf(type: Transcript["types"][number]): AdsType {
  if (typeof type === "string") return { typeUrl: urlOf(type) };
  return { typeUrl: urlOf(type.type), names: type.names };
}

function urlOf(name: string): string {
  const kind = kindByName(name);
  if (kind !== undefined) return `${kind.group}/${kind.versions[0]}/${kind.kind}`;
  return ENVOY_TYPES.get(name) ?? name;
}

Deno.test("ads client: a verdict on what never came is a mistake of the caller", () => {
  const machine = new AdsClientMachine({ variant: "sotw", node: NODE, types: [{ typeUrl: "t" }] });
  machine.next();
  assertThrows(() => machine.settle("t", "a"), TypeError, "no response");
  machine.receive({ type: "t", nonce: "a", version: "1" });
  machine.settle("t", "a");
  assertThrows(() => machine.settle("t", "a"), TypeError, "no response");
});

Deno.test("ads client: what a server says is bounded", () => {
  const machine = new AdsClientMachine({ variant: "delta", node: NODE, types: [{ typeUrl: "t" }] });
  machine.next();
  const long = "x".repeat(4097);
  assertEquals(machine.receive({ type: "t", nonce: long, version: "" }).kind, "unfit");
  assertEquals(machine.receive({ type: "t", nonce: "a", version: long }).kind, "unfit");
  for (let i = 0; i < 100; i++) {
    assertEquals(machine.receive({ type: "t", nonce: `n${i}`, version: "" }).kind, "response");
  }
  assertEquals(machine.receive({ type: "t", nonce: "one more", version: "" }).kind, "unfit");
  machine.settle("t", "n0", { code: 3, message: "m".repeat(5000), details: [] });
  assertEquals(machine.status()[0]!.lastNack?.length, 2000);
});

Deno.test("ads client: a type that is not asked for by name cannot be renamed", () => {
  const machine = new AdsClientMachine({ variant: "sotw", node: NODE, types: [{ typeUrl: "t" }] });
  assertThrows(() => machine.rename("t", ["a"]), TypeError, '"t" is not asked for by name');
  assertThrows(() => machine.rename("u", ["a"]), TypeError, '"u" is not asked for by name');
});
