/**
 * Everyone who is told what happens: the log, the metrics, the history of events.
 *
 * @module
 */
import { EventLog } from "../admin/events.ts";
import type { Metrics } from "../admin/metrics.ts";
import type { Log } from "../log.ts";
import type { PublisherEvent } from "../rollout/publisher.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Hub } from "../snapshot/hub.ts";
import type { SourceEvent } from "../receive/source_events.ts";
import type { ListenerHooks } from "../transport/listener.ts";
import type { PullObserver } from "../transport/pull_link.ts";
import type { ReceiverObserver } from "../transport/receiver_observer.ts";
import type { SessionObserver } from "../transport/session.ts";
import type { LinkObserver } from "../transport/sink_link.ts";
import { summariseAcks } from "./ack_summary.ts";
import {
  linkObservers,
  listenerHooks,
  observers,
  pullObservers,
  receiverObservers,
} from "./observers.ts";
import { recordAnswers } from "./event_answers.ts";
import { LatestNews } from "./latest_news.ts";
import {
  meterLinks,
  meterListeners,
  meterPublisher,
  meterPulls,
  meterReceiver,
  meterSessions,
  meterSources,
} from "./metering.ts";
import { logListeners } from "./listener_log.ts";
import { logLinks, logSessions, logSummaries } from "./peer_log.ts";
import { logPublisher } from "./publish_log.ts";
import { logPulls, logReceiver, logSources } from "./source_log.ts";

/** Whom each part tells. Disposing it ends what waits to be said. */
export interface Observing extends Disposable {
  readonly events: EventLog;
  readonly sessions: SessionObserver;
  readonly links: LinkObserver;
  readonly listeners: ListenerHooks;
  readonly publisher: (event: PublisherEvent) => void;
  readonly receiver: ReceiverObserver;
  readonly pulls: PullObserver;
  readonly sources: (event: SourceEvent) => void;
}

/** Puts observers together. To be called before anything else follows the hub: the history has to know a change before it is sent. */
export function observe(log: Log, metrics: Metrics, hub: Hub): Observing {
  const events = new EventLog({ now: systemClock.now });
  const following = hub.subscribe((publication) => void events.published(publication));
  const summaries = summariseAcks(logSummaries(log));
  const news = new LatestNews();
  const publisher = [logPublisher(log, news), meterPublisher(metrics)];
  const sources = [logSources(log, news), meterSources(metrics)];
  return {
    events,
    sessions: observers(
      meterSessions(metrics),
      recordAnswers(events),
      logSessions(log),
      summaries,
    ),
    links: linkObservers(meterLinks(metrics), logLinks(log)),
    listeners: listenerHooks(meterListeners(metrics), logListeners(log)),
    publisher: (event) => publisher.forEach((tell) => tell(event)),
    receiver: receiverObservers(meterReceiver(metrics), logReceiver(log)),
    pulls: pullObservers(meterPulls(metrics), logPulls(log)),
    sources: (event) => sources.forEach((tell) => tell(event)),
    [Symbol.dispose]() {
      following[Symbol.dispose]();
      summaries[Symbol.dispose]();
      news[Symbol.dispose]();
    },
  };
}
