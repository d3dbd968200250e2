/**
 * What the log says of all that happens below. Everything here is called by parts that know no log.
 *
 * @module
 */
import type { Event, Push } from "../protocol/stream.ts";
import type { PublisherEvent } from "../rollout/publisher.ts";
import { resourceCount, type Snapshot } from "../snapshot/snapshot.ts";
import { explain, type Fields, type Log, type Logger, Throttle } from "../log.ts";
import type { Summary } from "./ack_summary.ts";
import type { ListenerHooks } from "../transport/listener.ts";
import type { SessionInfo, SessionObserver } from "../transport/session.ts";
import type { LinkObserver } from "../transport/sink_link.ts";

/** Warnings that a peer can cause at will are said this often per cause. Milliseconds. */
const QUIET = 10_000;

/** What the log says of sessions: a NACK is one warning, with the reason. */
export function logSessions(log: Log): SessionObserver {
  const logger = log.logger("peer");
  return {
    opened: (session) => logger.debug("stream opened", fieldsOf(session)),
    sent: (session, push, { bytes }) => {
      if (logger.enabled("debug")) logger.debug("pushed", { ...pushFields(session, push), bytes });
    },
    event: (session, event, latency) => logEvent(logger, session, event, latency),
    cut: (session) => logger.warn("ended: the peer takes nothing", fieldsOf(session)),
    closed: (session, reason) => {
      const fields = fieldsOf(session);
      if (reason === undefined) logger.debug("stream closed", fields);
      else logger.info("stream ended", { ...fields, reason });
    },
  };
}

function logEvent(
  logger: Logger,
  session: SessionInfo,
  event: Event,
  latency: number | undefined,
): void {
  if (event.kind === "nack") {
    const { type, nonce, version, code, message, names } = event;
    const fields = { ...fieldsOf(session), type, nonce, version, code, reason: message };
    return logger.warn("refused by the peer (NACK)", { ...fields, resources: names.join(" ") });
  }
  if (!logger.enabled("debug")) return;
  const fields: Fields = { ...fieldsOf(session), type: event.type };
  const ms = latency === undefined ? {} : { ms: Math.round(latency) };
  if (event.kind === "ack") {
    logger.debug("ACK", { ...fields, nonce: event.nonce, version: event.version, ...ms });
  } else if (event.kind === "stale") logger.debug("stale nonce", { ...fields, nonce: event.nonce });
  else logger.info("subscribed", fields);
}

function fieldsOf(session: SessionInfo): Fields {
  const { address: peer, peer: introduction, protocol, sink } = session;
  const node = introduction === undefined ? {} : { node: introduction.id };
  return { peer, ...node, protocol, ...(sink === undefined ? {} : { sink }) };
}

function pushFields(session: SessionInfo, push: Push): Fields {
  const { type, nonce, version, content } = push;
  const resources = content.kind === "full"
    ? { resources: content.collection.size }
    : { changed: content.diff.changed.length, removed: content.diff.removed.length };
  return { ...fieldsOf(session), type, nonce, version, ...resources };
}

/** What the log says once every peer has answered a change. */
export function logSummaries(log: Log): (summary: Summary) => void {
  const logger = log.logger("peer");
  return ({ acks, nacks, lost, slowest }) => {
    const fields = { acks, ...(nacks > 0 ? { nacks } : {}), ...(lost > 0 ? { lost } : {}) };
    logger.info("every peer has answered the change", { ...fields, ms: Math.round(slowest) });
  };
}

/** What the log says of dial-outs: each change of state once, failures in between at debug level. */
export function logLinks(log: Log): LinkObserver {
  const logger = log.logger("sink");
  const down = new Set<string>();
  return {
    up: (sink, address) => {
      down.delete(`${sink} ${address}`);
      logger.info("sink connected", { sink, address });
    },
    down: (sink, address, reason, retryInMs) => {
      const fields = { sink, address, reason, retryInMs: Math.round(retryInMs) };
      const known = down.has(`${sink} ${address}`);
      down.add(`${sink} ${address}`);
      if (known) logger.debug("sink still not reached", fields);
      else logger.warn("sink not reached; it is dialled again and again", fields);
    },
  };
}

/** What the log says of a name that does not resolve: once in a while. */
export function logUnresolved(log: Log): (sink: string, host: string, reason: string) => void {
  const logger = log.logger("sink");
  const throttle = new Throttle({ period: 60_000 });
  return (sink, host, reason) =>
    throttle.run(sink, () => {
      logger.warn("the sink's name does not resolve; it is looked up again and again", {
        sink,
        host,
        reason,
      });
    });
}

/** What the log says of connections that were turned away or ended for breaking the rules. */
export function logListeners(log: Log): ListenerHooks {
  const logger = log.logger("listener");
  const throttle = new Throttle({ period: QUIET });
  const say = (what: string, reason: string, address: string, detail?: string) =>
    throttle.run(`${what} ${reason}`, (unsaid) => {
      const more = {
        ...(detail === undefined ? {} : { detail }),
        ...(unsaid > 0 ? { unsaid } : {}),
      };
      logger.warn(what, { reason, peer: address, ...more });
    });
  return {
    refused: (reason, address) => {
      if (reason !== "deadline") say("connection refused", reason, address);
    },
    violation: ({ reason, detail }, address) => {
      // Whoever is not speaking HTTP/2 is a probe more often than not.
      if (reason === "preface") logger.debug("not HTTP/2", { peer: address });
      else say("connection ended: its peer broke the rules of HTTP/2", reason, address, detail);
    },
  };
}

/** What gRPC takes unless it is told otherwise; Pilots of old have that bound. Bytes. */
const GRPC_DEFAULT = 4 * 1024 * 1024;

/** Warns, once, when a full response comes near to what a sink takes by default. */
function warnOfSize(logger: Logger): (snapshot: Snapshot) => void {
  const large = new Set<string>();
  return (snapshot) => {
    for (const [kind, { byteLength }] of snapshot.collections) {
      if (byteLength < 0.8 * GRPC_DEFAULT) large.delete(kind);
      else if (!large.has(kind)) {
        large.add(kind);
        logger.warn("all resources of this kind are near or above what sinks take by default", {
          kind,
          bytes: byteLength,
          default: GRPC_DEFAULT,
          hint: "a Pilot up to 1.7 refuses more in one message",
        });
      }
    }
  };
}

/** What the log says of snapshots. */
export function logPublisher(log: Log): (event: PublisherEvent) => void {
  const logger = log.logger("snapshot");
  const lookAtSize = warnOfSize(logger);
  return (event) => {
    switch (event.kind) {
      case "published": {
        const { snapshot } = event.publication;
        lookAtSize(snapshot);
        const fields = {
          id: snapshot.id,
          resources: resourceCount(snapshot),
          services: snapshot.services.size,
          save: event.save,
        };
        return logger.info("published", fields);
      }
      case "restored":
        return logger.info("found in the store", { id: event.stored.snapshot.id });
      case "restoreFailed":
        return logger.error("the store cannot be read", { error: explain(event.error) });
      case "held": {
        const { removed, of, limit } = event.verdict;
        const hint = `if that is meant: pinnace snapshots confirm ${event.id}`;
        return logger.warn("held back: it would remove too much", {
          id: event.id,
          removed,
          of,
          guard: limit,
          hint,
        });
      }
      case "released":
        return logger.info("no longer held back", { id: event.id, why: event.why });
      case "saved":
        return logger.debug("saved", { id: event.id, ...event.report, ms: Math.round(event.ms) });
      case "saveFailed":
        return logger.error("not saved; it is served all the same", {
          id: event.id,
          failures: event.failing.failures,
          error: explain(event.error),
        });
    }
  };
}
