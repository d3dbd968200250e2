/**
 * Runs a transcript: a conversation between a source and our sink, written down as YAML in
 * tests/testdata/sink_transcripts. Its form:
 *
 * - `sink: { asks: A }`, `{ ack: n, of: A }` or `{ nack: n, of: A, code, message }` is the next request;
 *   what is not named must be empty. `sink: nothing` says that there is none.
 * - `source: { push: A, nonce, version, means }` is a message of the source; `ends` how the stream must end.
 * - `accepted: { of: A, nonce }` and `refused: { …, code, message }` say what became of a push.
 * - `goOn: true`, `askAgain: A`, `unanswered: A`, and `status: { A: { acks: 1 } }`, which compares parts.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { load } from "js-yaml";
import { McpSinkMachine } from "../../lib/protocol/mcp_sink.ts";
import { type RequestResources, requestResourcesCodec } from "../../lib/wire/messages.ts";

/** One conversation. */
export interface SinkTranscript {
  readonly title: string;
  /** Default: A. */
  readonly collections?: readonly string[];
  /** Default: true. */
  readonly incremental?: boolean;
  readonly cautious?: boolean;
  readonly resumes?: boolean;
  readonly skip?: readonly string[];
  readonly held?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly steps: readonly Step[];
}

interface Step {
  readonly sink?: "nothing" | SinkSays;
  readonly source?: SourceSays;
  readonly accepted?: { readonly of: string; readonly nonce: string };
  readonly refused?: {
    readonly of: string;
    readonly nonce: string;
    readonly code: number;
    readonly message: string;
  };
  readonly goOn?: true;
  readonly askAgain?: string;
  readonly unanswered?: string | null;
  readonly status?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface SinkSays {
  readonly asks?: string;
  readonly ack?: string;
  readonly nack?: string;
  readonly of?: string;
  readonly code?: number;
  readonly message?: string;
  readonly incremental?: boolean;
  readonly versions?: Readonly<Record<string, string>>;
}

interface SourceSays {
  readonly push: string;
  readonly nonce: string;
  readonly version?: string;
  readonly incremental?: boolean;
  readonly means?: string;
  readonly ends?: { readonly code: string; readonly message: string };
}

const STEP_KEYS = "sink source accepted refused goOn askAgain unanswered status".split(" ");
const SINK_KEYS = "asks ack nack of code message incremental versions".split(" ");
const SOURCE_KEYS = "push nonce version incremental means ends".split(" ");

/** Reads a file of transcripts. */
export function readSinkTranscripts(text: string): readonly SinkTranscript[] {
  return load(text) as readonly SinkTranscript[];
}

/** Holds a machine to a transcript. */
export function runSinkTranscript(transcript: SinkTranscript): void {
  const { held = {}, incremental = true, collections = ["A"] } = transcript;
  const machine = new McpSinkMachine({
    nodeId: "receiver-1",
    annotations: { site: "fra" },
    collections,
    incremental,
    initial: (collection) => held[collection] ?? {},
    ...(transcript.cautious === undefined ? {} : { cautious: transcript.cautious }),
    ...(transcript.resumes === undefined ? {} : { resumes: transcript.resumes }),
    ...(transcript.skip === undefined ? {} : { skip: new Set(transcript.skip) }),
  });
  transcript.steps.forEach((step, index) => {
    try {
      runStep(machine, step);
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      throw new Error(`step ${index + 1}, ${JSON.stringify(step)}: ${why}`, { cause: error });
    }
  });
}

function runStep(machine: McpSinkMachine, step: Step): void {
  onlyKeys(step, STEP_KEYS);
  const { sink, source, accepted, refused, status } = step;
  if (sink !== undefined) {
    const request = machine.next();
    assertEquals<unknown>(request && recode(request), sink === "nothing" ? undefined : says(sink));
  }
  if (source !== undefined) receive(machine, source);
  if (accepted !== undefined) machine.settle(accepted.of, accepted.nonce);
  if (refused !== undefined) {
    const { of, nonce, code, message } = refused;
    machine.settle(of, nonce, { code, message, details: [] });
  }
  if (step.goOn) machine.goOn();
  if (step.askAgain !== undefined) machine.askAgain(step.askAgain);
  if (step.unanswered !== undefined) assertEquals(machine.unanswered() ?? null, step.unanswered);
  for (const [collection, parts] of Object.entries(status ?? {})) {
    const found: Record<string, unknown> = {
      ...machine.status().find((one) => one.collection === collection),
    };
    const compared = Object.fromEntries(Object.keys(parts).map((key) => [key, found[key] ?? null]));
    assertEquals<unknown>(compared, parts);
  }
}

function receive(machine: McpSinkMachine, source: SourceSays): void {
  onlyKeys(source, SOURCE_KEYS);
  const { push: type, nonce, version = "", incremental = false, means, ends } = source;
  const received = machine.receive({ type, nonce, version, incremental }, 1000);
  if (ends !== undefined) {
    assert(received.kind === "error", `the stream was to end, but: ${received.kind}`);
    assertEquals(received.code, ends.code);
    return assertStringIncludes(received.message, ends.message);
  }
  assertEquals(received.kind, means);
}

/** The request that is meant, whole. */
function says(sink: SinkSays): RequestResources {
  onlyKeys(sink, SINK_KEYS);
  const { code = 0, message = "" } = sink;
  return recode({
    sinkNode: { id: "receiver-1", annotations: { site: "fra" } },
    collection: sink.asks ?? sink.of!,
    initialResourceVersions: sink.versions ?? {},
    responseNonce: sink.ack ?? sink.nack ?? "",
    ...(sink.nack === undefined ? {} : { errorDetail: { code, message, details: [] } }),
    incremental: sink.incremental ?? false,
  });
}

/** A request as it comes from the wire. */
function recode(request: RequestResources): RequestResources {
  return requestResourcesCodec.decode(requestResourcesCodec.encode(request));
}

function onlyKeys(object: object, keys: readonly string[]): void {
  for (const key of Object.keys(object)) assert(keys.includes(key), `unknown key ${key}`);
}
