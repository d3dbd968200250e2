/**
 * Sources, for status: what the registry knows of each, with its stream or its pull.
 *
 * @module
 */
import type { StatusSource } from "../admin/status.ts";
import { kindByCollection } from "../model/kind.ts";
import { isPulled } from "../receive/sources.ts";
import type { SourceStatus } from "../receive/source_events.ts";
import type { HeldCandidate } from "../rollout/publishing.ts";
import type { PullStatus } from "../transport/pull_link.ts";
import type { ReceivedStreamInfo } from "../transport/receiver_observer.ts";

/** What the status is made of. */
export interface SourceFacts {
  readonly known: readonly SourceStatus[];
  readonly streams: readonly ReceivedStreamInfo[];
  readonly pulls: readonly PullStatus[];
  readonly held: readonly HeldCandidate[];
}

/** Every source: those that gave something, and those that are pulled from and have given nothing yet. */
export function sourceStatuses({ known, streams, pulls, held }: SourceFacts): StatusSource[] {
  const byName: FactsByName = {
    streams: Map.groupBy(streams, ({ source }) => source),
    pulls: new Map(pulls.map((pull) => [pull.url, pull])),
    held: new Map(held.map((candidate) => [candidate.part, candidate])),
  };
  const names = new Set(known.map(({ name }) => name));
  const newly = pulls.filter(({ url }) => !names.has(url));
  return [...known.map((source) => ofKnown(source, byName)), ...newly.map(ofPull)];
}

/** What there is of each source, since there may be a thousand, with a stream each. */
interface FactsByName {
  readonly streams: ReadonlyMap<string, readonly ReceivedStreamInfo[]>;
  readonly pulls: ReadonlyMap<string, PullStatus>;
  readonly held: ReadonlyMap<string | undefined, HeldCandidate>;
}

function ofKnown(source: SourceStatus, { streams, pulls, held }: FactsByName): StatusSource {
  const { name, state, since, address, instance, resources, lastPushAt, refused, saveError } =
    source;
  const own = streams.get(name) ?? [];
  const pull = pulls.get(name);
  const waiting = held.get(name);
  return {
    name,
    via: isPulled(name) ? "pull" : "receive",
    address: own.at(-1)?.address ?? pull?.address ?? address,
    instance,
    state,
    since,
    resources,
    lastPushAt,
    refused,
    held: waiting && { id: waiting.id, message: waiting.message },
    lastError: saveError ?? (state === "connected" ? notAsked(own) : pull?.lastError),
    streams: pull === undefined ? own.map(ofStream) : pulled(pull),
  };
}

/** What a source that is connected is not asked for now. */
function notAsked(streams: readonly ReceivedStreamInfo[]): string | undefined {
  const kinds = streams.flatMap((stream) => stream.collections()).flatMap((one) =>
    one.askedAgainAt === undefined ? [] : [kindByCollection(one.collection)?.kind ?? one.collection]
  );
  if (kinds.length === 0) return undefined;
  const more = kinds.length > FEW ? ` and ${kinds.length - FEW} more` : "";
  return `not asked for now: ${kinds.slice(0, FEW).join(", ")}${more}; ` +
    "it ended earlier streams at these";
}

/** Kinds that are named. */
const FEW = 3;

function ofPull(pull: PullStatus): StatusSource {
  const { url, address, lastError } = pull;
  return {
    name: url,
    via: "pull",
    address,
    state: "waiting",
    resources: {},
    lastError,
    streams: pulled(pull),
  };
}

/** The stream of a pull, while it lives. */
function pulled({ address, state, types }: PullStatus): StatusSource["streams"] {
  if (address === undefined || state.kind !== "up") return [];
  const nacks = types.reduce((sum, type) => sum + type.nacks, 0);
  const pushes = types.reduce((sum, type) => sum + type.acks, nacks);
  return [{ address, openedAt: state.since, pushes, nacks }];
}

function ofStream(stream: ReceivedStreamInfo): StatusSource["streams"][number] {
  const { address, openedAt } = stream;
  let [pushes, nacks] = [0, 0];
  for (const collection of stream.collections()) {
    pushes += collection.acks + collection.nacks;
    nacks += collection.nacks;
  }
  return { address, openedAt, pushes, nacks };
}
