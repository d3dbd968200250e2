/**
 * What is counted of all that happens below. Everything here is called by parts that know no metrics.
 *
 * @module
 */
import type { Metrics } from "../admin/metrics.ts";
import type { SourceEvent } from "../receive/source_events.ts";
import type { PublisherEvent } from "../rollout/publisher.ts";
import type { ListenerHooks } from "../transport/listener.ts";
import type { SessionObserver } from "../transport/session.ts";
import type { PullObserver } from "../transport/pull_link.ts";
import type { ReceiverObserver } from "../transport/receiver_observer.ts";
import type { LinkObserver } from "../transport/sink_link.ts";

/** Counts what happens on sessions. */
export function meterSessions(metrics: Metrics): SessionObserver {
  return {
    opened: ({ protocol }) => metrics.opened(protocol),
    sent: ({ protocol }, { type }, { bytes }) => metrics.pushed(protocol, type, bytes),
    event: ({ protocol, peer }, event, latency) => {
      if (event.kind === "ack") metrics.acked(protocol, event.type, latency);
      else if (event.kind === "nack") metrics.nacked(protocol, event.type, peer?.id ?? "");
    },
    cut: () => metrics.cut(),
    paced: () => metrics.paced(),
    overdue: () => metrics.overdue(),
    closed: () => {},
  };
}

/** Counts what happens on dial-outs. */
export function meterLinks(metrics: Metrics): LinkObserver {
  return { up: () => {}, down: (sink) => metrics.dialFailed(sink) };
}

/** Counts whom the doors turned away. */
export function meterListeners(metrics: Metrics): ListenerHooks {
  return {
    refused: (reason) => metrics.refused(reason),
    violation: ({ reason }) => metrics.violated(reason),
  };
}

/** Counts what becomes of snapshots. */
export function meterPublisher(metrics: Metrics): (event: PublisherEvent) => void {
  return (event) => {
    if (event.kind === "published") {
      metrics.published((event.publication.causes ?? []).map(({ kind }) => kind));
    } else if (event.kind === "held") metrics.held();
    else if (event.kind === "saved") metrics.saved(event.ms);
    else if (event.kind === "saveFailed") metrics.saveFailed();
  };
}

/** Counts what sources give, whether they dial us or we pull. */
export function meterSources(metrics: Metrics): (event: SourceEvent) => void {
  return ({ kind, name }) => {
    if (kind === "pushed" || kind === "refused") metrics.sourcePushed(name);
    if (kind === "refused") metrics.sourceRefused(name);
    else if (kind === "saveFailed") metrics.sourceSaveFailed(name);
  };
}

/** Counts what happens on streams on which we are the sink, besides what {@link meterSources} counts. */
export function meterReceiver(metrics: Metrics): ReceiverObserver {
  return {
    opened: () => {},
    push: ({ source }, _push, bytes) => metrics.sourceReceived(source, bytes),
    acked: () => {},
    nacked: () => {},
    closed: () => {},
    denied: () => metrics.sourceDenied(),
  };
}

/** Counts what happens on streams to servers that we pull from, besides what {@link meterSources} counts. */
export function meterPulls(metrics: Metrics): PullObserver {
  return { up: () => {}, down: (url) => metrics.pullFailed(url) };
}
