/**
 * Runs a transcript: a conversation between a client and one of the state machines, written down as
 * YAML in tests/testdata/transcripts. Its form:
 *
 * - `state: { ServiceEntry: [a@1, b@1] }` publishes a snapshot; kinds that are not named stay.
 * - `client: …` sends a request. `ack: n1` and `nack: n1` answer a push; `names` (SotW) are then those
 *   of the request before, as with every real client. `means` lists the events it must give,
 *   `ends` how the stream must end.
 * - `server: …` is the next push; `server: nothing` says that there is none. After the last of a run
 *   of pushes there must be no further one. Where a step is followed by no `server`, the
 *   transport did not write in between.
 * - With `mesh-config-incremental`, nonces end with a slash and the type; it is left out here.
 * - `expire: true` says that the transition under way takes too long.
 * - `stream: new` is a reconnect; nonces begin with m, then with o.
 * - `transition: routes` compares the phase of the transition under way, or `none`.
 * - `status: { ServiceEntry: { parked: 1 } }` compares parts of the status.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { load } from "js-yaml";
import { kindByName } from "../../lib/model/kind.ts";
import type { ClientKind } from "../../lib/model/settings.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { STREAM_LIMITS, type StreamLimits } from "../../lib/protocol/limits.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import {
  IncrementalMeshConfigMachine,
  MeshConfigMachine,
  messageTypeResolver,
} from "../../lib/protocol/mesh_config.ts";
import { collectionResolver, type Resolver } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { Event, Push, StreamMachine, TransitionPhase } from "../../lib/protocol/stream.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import {
  deltaDiscoveryRequestCodec,
  discoveryRequestCodec,
  incrementalMeshConfigRequestCodec,
  meshConfigRequestCodec,
  requestResourcesCodec,
} from "../../lib/wire/messages.ts";
import { type Contents, ENVOY_TYPES, snapshotOf, xdsResolverOf } from "./fixtures.ts";

/** The machine a transcript talks to. */
export type Protocol =
  | "sotw"
  | "delta"
  | "mcp"
  | "dial-out"
  | "mesh-config"
  | "mesh-config-incremental";

/** A file of transcripts. */
export interface TranscriptFile {
  readonly protocol: Protocol;
  readonly transcripts: readonly Transcript[];
}

/** One conversation. */
export interface Transcript {
  readonly title: string;
  /** Ids of shared cases that it shows. */
  readonly cases?: readonly string[];
  /** Type of every step that names none; default: ServiceEntry. */
  readonly type?: string;
  readonly incremental?: boolean;
  /** What kind of client speaks. Types are then `CDS`, `EDS`, `LDS` and `RDS`. Default: istio. */
  readonly kind?: ClientKind;
  readonly unknownCollection?: "empty" | "error";
  readonly limits?: Partial<StreamLimits>;
  readonly steps: readonly Step[];
}

interface Step {
  readonly state?: Readonly<Record<string, readonly string[]>>;
  readonly client?: ClientSays;
  readonly server?: "nothing" | ServerSays;
  readonly stream?: "new";
  readonly expire?: true;
  readonly transition?: TransitionPhase | "none";
  readonly status?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface ClientSays {
  readonly type?: string;
  readonly node?: string | null;
  readonly nonce?: string;
  readonly ack?: string;
  readonly nack?: string;
  readonly code?: number;
  readonly message?: string;
  readonly names?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly incremental?: boolean;
  readonly locators?: readonly string[];
  readonly means?: readonly string[];
  readonly ends?: { readonly code: string; readonly message: string };
}

interface ServerSays {
  readonly type?: string;
  readonly nonce: string;
  readonly full?: readonly string[];
  readonly changed?: readonly string[];
  readonly removed?: readonly string[];
  readonly sameVersionAs?: string;
  readonly newVersion?: boolean;
}

const STEP_KEYS = "state client server stream expire transition status".split(" ");
const CLIENT_KEYS = [
  ..."type node nonce ack nack code message names subscribe unsubscribe".split(" "),
  ..."versions version incremental locators means ends".split(" "),
];
const SERVER_KEYS = "type nonce full changed removed sameVersionAs newVersion".split(" ");

/** Reads a file of transcripts. */
export function readTranscripts(text: string): TranscriptFile {
  return load(text) as TranscriptFile;
}

/** Holds a machine to a transcript. */
export function runTranscript(protocol: Protocol, transcript: Transcript): void {
  const run = new Run(protocol, transcript);
  transcript.steps.forEach((step, index) => {
    try {
      run.step(step, transcript.steps[index + 1]);
    } catch (error) {
      const where = `step ${index + 1}, ${JSON.stringify(step)}`;
      throw new Error(`${where}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  });
}

function machineOf(
  protocol: Protocol,
  options: { readonly prefix: string; readonly limits: StreamLimits },
  xds: Resolver,
  mcp: Resolver,
): StreamMachine<unknown> {
  const machines: Record<Protocol, () => unknown> = {
    sotw: () => new SotwMachine({ ...options, resolver: xds }),
    delta: () => new DeltaMachine({ ...options, resolver: xds }),
    mcp: () => new McpSourceMachine({ ...options, resolver: mcp }),
    "dial-out": () => new McpSourceMachine({ ...options, resolver: mcp, dialOut: true }),
    "mesh-config": () => new MeshConfigMachine({ ...options, resolver: messageTypeResolver(mcp) }),
    "mesh-config-incremental": () =>
      new IncrementalMeshConfigMachine({ ...options, resolver: messageTypeResolver(mcp) }),
  };
  return machines[protocol]() as StreamMachine<unknown>;
}

class Run {
  readonly #protocol: Protocol;
  readonly #transcript: Transcript;
  readonly #contents: Record<string, Contents> = {};
  readonly #versions = new Map<string, string>();
  #streams = 0;
  #snapshot: Snapshot | undefined;
  #machine: StreamMachine<unknown>;
  #names = new Map<string, readonly string[]>();

  constructor(protocol: Protocol, transcript: Transcript) {
    this.#protocol = protocol;
    this.#transcript = transcript;
    this.#machine = this.#open();
  }

  step(step: Step, following: Step | undefined): void {
    onlyKeys(step, STEP_KEYS);
    if (step.state !== undefined) this.#publish(step.state);
    if (step.client !== undefined) this.#client(step.client);
    if (step.stream === "new") this.#machine = this.#open();
    if (step.expire) this.#machine.expire!(this.#machine.transition!.number);
    if (step.transition !== undefined) {
      assertEquals(this.#machine.transition?.phase ?? "none", step.transition);
    }
    if (step.status !== undefined) this.#status(step.status);
    if (step.server === undefined) return;
    if (step.server !== "nothing") this.#server(step.server);
    if (following?.server === undefined) assertEquals(this.#pull(), "nothing");
  }

  #open(): StreamMachine<unknown> {
    this.#names = new Map();
    const prefix = "nmopq"[this.#streams++]!;
    const { kind = "istio", unknownCollection = "empty" } = this.#transcript;
    const limits = { ...STREAM_LIMITS, ...this.#transcript.limits };
    const xds = xdsResolverOf(kind);
    const mcp = collectionResolver({ unknownCollection });
    const machine = machineOf(this.#protocol, { prefix, limits }, xds, mcp);
    if (this.#snapshot !== undefined) machine.retarget(this.#snapshot);
    return machine;
  }

  #publish(state: Readonly<Record<string, readonly string[]>>): void {
    for (const [kind, resources] of Object.entries(state)) {
      this.#contents[kind] = Object.fromEntries(resources.map((text) => {
        const at = text.lastIndexOf("@");
        assert(at > 0, `${text} is not name@version`);
        return [text.slice(0, at), text.slice(at + 1)];
      }));
    }
    this.#snapshot = snapshotOf(this.#contents, this.#snapshot);
    this.#machine.retarget(this.#snapshot);
  }

  #client(says: ClientSays): void {
    onlyKeys(says, CLIENT_KEYS);
    const received = this.#machine.receive(this.#request(says));
    if (says.ends !== undefined) {
      assert(!received.ok, "the stream was to end");
      assertEquals(received.code, says.ends.code);
      assertStringIncludes(received.message, says.ends.message);
      return;
    }
    assert(received.ok, received.ok ? "" : `the stream ended: ${received.message}`);
    if (says.means !== undefined) assertEquals(received.events.map(show), says.means);
  }

  #request(says: ClientSays): unknown {
    const type = this.#type(says.type);
    const nonce = this.#nonce(says.ack ?? says.nack ?? says.nonce ?? "", type);
    const error = says.nack === undefined
      ? {}
      : { errorDetail: { code: says.code ?? 3, message: says.message ?? "no" } };
    if (this.#protocol === "mcp" || this.#protocol === "dial-out") {
      return recode(requestResourcesCodec, {
        ...(says.node === undefined || says.node === null ? {} : { sinkNode: { id: says.node } }),
        collection: type,
        initialResourceVersions: says.versions ?? {},
        responseNonce: nonce,
        incremental: says.incremental ?? this.#transcript.incremental ?? false,
        ...error,
      });
    }
    if (this.#protocol === "mesh-config" || this.#protocol === "mesh-config-incremental") {
      const common = {
        sinkNode: { id: says.node ?? "sink-1" },
        typeUrl: type,
        responseNonce: nonce,
        ...error,
      };
      return this.#protocol === "mesh-config"
        ? recode(meshConfigRequestCodec, { ...common, versionInfo: says.version ?? "" })
        : recode(incrementalMeshConfigRequestCodec, {
          ...common,
          initialResourceVersions: says.versions ?? {},
        });
    }
    const node = says.node === null ? {} : { node: { id: says.node ?? "client-1" } };
    if (this.#protocol === "delta") {
      return recode(deltaDiscoveryRequestCodec, {
        ...node,
        typeUrl: type,
        resourceNamesSubscribe: says.subscribe ?? [],
        resourceNamesUnsubscribe: says.unsubscribe ?? [],
        initialResourceVersions: says.versions ?? {},
        responseNonce: nonce,
        resourceLocatorsSubscribe: (says.locators ?? []).map((name) => ({ name })),
        ...error,
      });
    }
    const names = says.names ?? this.#names.get(type) ?? [];
    this.#names.set(type, names);
    return recode(discoveryRequestCodec, {
      ...node,
      typeUrl: type,
      resourceNames: names,
      versionInfo: says.version ?? "",
      responseNonce: nonce,
      resourceLocators: (says.locators ?? []).map((name) => ({ name })),
      ...error,
    });
  }

  #server(says: ServerSays): void {
    onlyKeys(says, SERVER_KEYS);
    const { sameVersionAs, newVersion, ...content } = says;
    const type = this.#type(says.type);
    const expected = { ...content, type, nonce: this.#nonce(says.nonce, type) };
    const push = this.#pull();
    if (typeof push === "string") return assertEquals<unknown>(push, expected);
    assertEquals<unknown>(
      showPush(push),
      says.full !== undefined ? expected : { changed: [], removed: [], ...expected },
    );
    if (sameVersionAs !== undefined) {
      assertEquals(push.version, this.#versions.get(sameVersionAs));
    }
    if (newVersion) {
      assert(![...this.#versions.values()].includes(push.version), "the version is not new");
    }
    this.#versions.set(says.nonce, push.version);
  }

  /** A nonce as it is on the wire. */
  #nonce(nonce: string, type: string): string {
    const typed = this.#protocol === "mesh-config-incremental" && nonce !== "";
    return typed ? `${nonce}/${type}` : nonce;
  }

  #pull(): Push | "nothing" {
    return this.#machine.next() ?? "nothing";
  }

  #status(expected: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
    const status = new Map(this.#machine.status().map((s) => [s.type, s]));
    for (const [type, parts] of Object.entries(expected)) {
      const found: Record<string, unknown> = { ...status.get(this.#type(type)) };
      const compared = Object.fromEntries(Object.keys(parts).map((key) => [key, found[key]]));
      assertEquals<unknown>(compared, parts);
    }
  }

  /** A short name of a kind, as this protocol calls it; anything else is meant literally. */
  #type(name: string = this.#transcript.type ?? "ServiceEntry"): string {
    if (ENVOY_TYPES.has(name)) return ENVOY_TYPES.get(name)!;
    const kind = kindByName(name);
    if (kind === undefined) return name;
    if (this.#protocol === "mcp" || this.#protocol === "dial-out") return kind.collection;
    if (this.#protocol.startsWith("mesh-config")) return `type.googleapis.com/${kind.message}`;
    return `${kind.group}/${kind.versions[0]}/${kind.kind}`;
  }
}

/** A request as it comes from the wire. */
function recode<T>(
  codec: { encode(message: never): Uint8Array; decode(bytes: Uint8Array): T },
  message: unknown,
): T {
  return codec.decode(codec.encode(message as never));
}

function show(event: Event): string {
  switch (event.kind) {
    case "opened":
      return "opened";
    case "stale":
      return `stale ${bare(event.nonce)}`;
    case "ack":
      return `ack ${bare(event.nonce)}`;
    case "nack":
      return `nack ${bare(event.nonce)}: ${event.message} (${event.code}) [${
        event.names.join(" ")
      }]`;
  }
}

/** A nonce without the type that it may end with. */
function bare(nonce: string): string {
  return nonce.replace(/\/.*$/, "");
}

function showPush({ type, nonce, content }: Push): unknown {
  if (content.kind === "full") return { type, nonce, full: [...content.collection].map(text) };
  const { changed, removed } = content.diff;
  return { type, nonce, changed: changed.map(text), removed };
}

function text({ name, version, bytes }: { name: string; version: string; bytes: Uint8Array }) {
  assert(bytes.length > 0, `${name}@${version} is sent without content`);
  return `${name}@${version}`;
}

function onlyKeys(object: object, keys: readonly string[]): void {
  for (const key of Object.keys(object)) assert(keys.includes(key), `unknown key ${key}`);
}
