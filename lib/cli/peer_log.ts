/**
 * What the log says of peers: their streams and answers, and dial-outs. Everything here is called by
 * parts that know no log.
 *
 * @module
 */
import type { Event, Push } from "../protocol/stream.ts";
import { type Fields, type Log, type Logger, Throttle } from "../log.ts";
import type { Summary } from "./ack_summary.ts";
import { KnownDown } from "./known_down.ts";
import type { SessionInfo, SessionObserver } from "../transport/session.ts";
import type { LinkObserver } from "../transport/sink_link.ts";

/** Warnings that a peer can cause at will are said this often per cause. Milliseconds. */
const QUIET = 10_000;

const OVERDUE =
  "the client did not follow from the old clusters to the new ones in time; it gets all that is new at once";

/**
 * What the log says of sessions: a NACK is one warning, with the reason; of one peer and type there is
 * one in 10 s, and as often the end of a peer's stream and a transition that it did not follow. `now`: milliseconds, only differences count.
 */
export function logSessions(
  log: Log,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): SessionObserver {
  const logger = log.logger("peer");
  const refusals = new Throttle({ period: QUIET, keys: 10_000, now });
  const ends = new Throttle({ period: QUIET, keys: 10_000, now });
  const late = new Throttle({ period: QUIET, keys: 10_000, now });
  return {
    opened: (session) => logger.debug("stream opened", fieldsOf(session)),
    sent: (session, push, { bytes }) => {
      if (logger.enabled("debug")) logger.debug("pushed", { ...pushFields(session, push), bytes });
    },
    event: (session, event, latency) => {
      if (event.kind !== "nack") return logEvent(logger, session, event, latency);
      // A peer may refuse again and again, on one stream or many; what it says is much the same.
      refusals.run(`${whoIs(session)} ${event.type}`, (unsaid) => {
        logRefusal(logger, session, event, unsaid);
      });
    },
    paced: (session) => logger.debug("it asks in a tight loop: answers wait", fieldsOf(session)),
    overdue: (session, phase) => {
      late.run(whoIs(session), (unsaid) => {
        const fields = { ...fieldsOf(session), phase, ...(unsaid > 0 ? { unsaid } : {}) };
        logger.warn(OVERDUE, fields);
      });
    },
    cut: (session) => logger.warn("ended: the peer takes nothing", fieldsOf(session)),
    closed: (session, reason) => {
      const fields = fieldsOf(session);
      if (reason === undefined) return logger.debug("stream closed", fields);
      ends.run(whoIs(session), (unsaid) => {
        logger.info("stream ended", { ...fields, reason, ...(unsaid > 0 ? { unsaid } : {}) });
      });
    },
  };
}

function logRefusal(
  logger: Logger,
  session: SessionInfo,
  event: Extract<Event, { kind: "nack" }>,
  unsaid: number,
): void {
  const { type, nonce, version, code, message, names } = event;
  const fields = { ...fieldsOf(session), type, nonce, version, code, reason: message };
  const more = unsaid > 0 ? { unsaid } : {};
  logger.warn("refused by the peer (NACK)", { ...fields, resources: names.join(" "), ...more });
}

function logEvent(
  logger: Logger,
  session: SessionInfo,
  event: Exclude<Event, { kind: "nack" }>,
  latency: number | undefined,
): void {
  if (!logger.enabled("debug")) return;
  const fields: Fields = { ...fieldsOf(session), type: event.type };
  const ms = latency === undefined ? {} : { ms: Math.round(latency) };
  if (event.kind === "ack") {
    logger.debug("ACK", { ...fields, nonce: event.nonce, version: event.version, ...ms });
  } else if (event.kind === "stale") logger.debug("stale nonce", { ...fields, nonce: event.nonce });
  else logger.info("subscribed", fields);
}

/** The same for each stream of a peer: it comes from another port every time. */
function whoIs({ address, peer, sink }: SessionInfo): string {
  return JSON.stringify([address.replace(/:\d+$/, ""), peer?.id, sink]);
}

function fieldsOf(session: SessionInfo): Fields {
  const { address: peer, peer: introduction, protocol, sink, identity } = session;
  return { peer, node: introduction?.id, identity, protocol, sink }; // what is undefined is left out
}

function pushFields(session: SessionInfo, push: Push): Fields {
  const { type, nonce, version, content } = push;
  const resources = content.kind === "full"
    ? { resources: content.collection.size }
    : { changed: content.diff.changed.length, removed: content.diff.removed.length };
  return { ...fieldsOf(session), type, nonce, version, ...resources };
}

/** What the log says once every peer has answered a change, or some have not for too long. */
export function logSummaries(log: Log): (summary: Summary) => void {
  const logger = log.logger("peer");
  return ({ acks, nacks, lost, waiting, late, slowest }) => {
    const fields = { acks, ...(nacks > 0 ? { nacks } : {}), ...(lost > 0 ? { lost } : {}) };
    const ms = Math.round(slowest);
    if (waiting > 0) {
      logger.warn("the change goes unanswered by some peers", { ...fields, waiting, ms });
    } else if (late) {
      logger.info("the peers that were waited for have answered or are gone", { ...fields, ms });
    } else logger.info("every peer has answered the change", { ...fields, ms });
  };
}

/** What the log says of dial-outs: each change of state once, failures in between at debug level. */
export function logLinks(log: Log, down: KnownDown = new KnownDown()): LinkObserver {
  const logger = log.logger("sink");
  return {
    up: (sink, address) => {
      down.up(`${sink} ${address}`);
      logger.info("sink connected", { sink, address });
    },
    down: (sink, address, reason, retryInMs) => {
      const fields = { sink, address, reason, retryInMs: Math.round(retryInMs) };
      const known = down.failed(`${sink} ${address}`, retryInMs);
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
