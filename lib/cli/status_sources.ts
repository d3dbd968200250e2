/**
 * Sources as the status shows them: what the registry, the streams, the pulls and the guard each know
 * of them, put together.
 *
 * @module
 */
import type { StatusSource } from "../admin/status.ts";
import type { SourceStatus } from "../receive/source_events.ts";
import type { HeldCandidate } from "../rollout/publishing.ts";
import type { PullStatus } from "../transport/pull_link.ts";
import type { ReceivedStreamInfo } from "../transport/receiver_observer.ts";

/** What is known of sources, by who knows it. */
export interface SourceParts {
  readonly sources: readonly SourceStatus[];
  readonly streams: readonly ReceivedStreamInfo[];
  readonly pulls: readonly PullStatus[];
  /** Sets that wait for a person; `part` names the source. */
  readonly held: readonly HeldCandidate[];
}

/** Every source that has given something, is connected, or is to be pulled from. */
export function statusSources({ sources, streams, pulls, held }: SourceParts): StatusSource[] {
  const pullByName = new Map(pulls.map((pull) => [pull.url, pull]));
  const heldByName = new Map(held.map((one) => [one.part, one]));
  const streamsByName = Map.groupBy(streams, ({ source }) => source);
  const known = sources.map((source): StatusSource => {
    const { name, state, since, instance, resources, lastPushAt, refused, saveError } = source;
    const pull = pullByName.get(name);
    pullByName.delete(name);
    return {
      name,
      via: pull === undefined ? "receive" : "pull",
      address: source.address ?? pull?.address,
      instance,
      state,
      since,
      resources,
      lastPushAt,
      refused,
      held: heldByName.get(name),
      lastError: saveError === undefined ? pull?.lastError : `not saved: ${saveError}`,
      streams: pull === undefined ? received(streamsByName.get(name) ?? []) : pulled(pull),
    };
  });
  return [...known, ...[...pullByName.values()].map(waiting)];
}

/** A server that has given nothing so far. */
function waiting(pull: PullStatus): StatusSource {
  const { url, address, state, lastError } = pull;
  return {
    name: url,
    via: "pull",
    address,
    state: "waiting",
    since: state.kind === "waiting" ? undefined : state.since,
    resources: {},
    lastError,
    streams: pulled(pull),
  };
}

function received(streams: readonly ReceivedStreamInfo[]): StatusSource["streams"] {
  return streams.map((stream) => ({
    address: stream.address,
    openedAt: stream.openedAt,
    ...countsOf(stream.collections()),
  }));
}

function pulled({ state, address, types }: PullStatus): StatusSource["streams"] {
  if (state.kind !== "up" || address === undefined) return [];
  return [{ address, openedAt: state.since, ...countsOf(types) }];
}

function countsOf(all: readonly { readonly acks: number; readonly nacks: number }[]) {
  const nacks = all.reduce((sum, one) => sum + one.nacks, 0);
  return { pushes: all.reduce((sum, one) => sum + one.acks, nacks), nacks };
}
