/**
 * What the log says of what other sources give us, and of whom we cannot dial.
 *
 * @module
 */
import { explain, type Log, type Logger, Throttle } from "../log.ts";
import type { SourceEvent } from "../receive/source_events.ts";
import type { PullObserver } from "../transport/pull_link.ts";
import type { ReceivedStreamInfo, ReceiverObserver } from "../transport/receiver_observer.ts";
import { KnownDown } from "./known_down.ts";
import type { LatestNews } from "./latest_news.ts";

/** Warnings that a source can cause at will are said this often per cause. Milliseconds. */
const QUIET = 10_000;

/**
 * What the log says of sources: who comes and goes, and what is refused, held back and not saved. A
 * source that does one of these again and again is a line in a while, which counts the others; of its
 * coming and going the last is always said.
 */
export function logSources(log: Log, news: LatestNews): (event: SourceEvent) => void {
  const logger = log.logger("source");
  const throttle = new Throttle({ period: QUIET });
  return (event) => {
    const { name: source } = event;
    switch (event.kind) {
      case "connected":
      case "disconnected":
      case "forgotten":
        return news.tell(`source ${source}`, (unsaid) => sayPresence(logger, event, unsaid));
      case "pushed": {
        const { type, version, resources, removed } = event;
        const fields = { source, type, version, resources, removed };
        if (!event.held) return logger.debug("taken from a source", fields);
        return throttle.run(`${source} ${type} held`, (unsaid) => {
          const what = "taken, and held back: it would remove too much";
          logger.warn(what, { ...fields, ...counted(unsaid) });
        });
      }
      case "refused":
        return throttle.run(`${source} ${event.type}`, (unsaid) => {
          const fields = { source, type: event.type, reason: event.message, ...counted(unsaid) };
          logger.warn("a source's push is refused (NACK)", fields);
        });
      case "recovered": {
        const { resources } = event;
        return logger.warn("a source's set is lost; what was served of it stays", {
          source,
          resources,
        });
      }
      case "saveFailed":
        return throttle.run(`${source} save`, (unsaid) => {
          const fields = { source, error: explain(event.error), ...counted(unsaid) };
          logger.error("what a source gave is not saved; it is served all the same", fields);
        });
    }
  };
}

type Presence = Extract<SourceEvent, { kind: "connected" | "disconnected" | "forgotten" }>;

function sayPresence(logger: Logger, event: Presence, unsaid: number): void {
  const { name: source } = event;
  const more = counted(unsaid);
  if (event.kind === "connected") {
    const { address, instance, namedBy } = event;
    logger.info("source connected", { source, address, instance, namedBy, ...more });
  } else if (event.kind === "disconnected") {
    logger.warn("source away; what it gave last stays", { source, ...more });
  } else logger.info("source forgotten", { source, why: event.why, ...more });
}

/** How many like it went unsaid, where any did. */
function counted(unsaid: number): { readonly unsaid?: number } {
  return unsaid > 0 ? { unsaid } : {};
}

/** What the log says of streams on which we are the sink; refusals are {@link logSources}' to say. */
export function logReceiver(log: Log): ReceiverObserver {
  const logger = log.logger("source");
  const throttle = new Throttle({ period: QUIET });
  return {
    opened: (stream) => {
      const { source } = stream;
      logger.debug("stream opened", fieldsOf(stream));
      const collections = notAsked(stream);
      if (collections.length === 0) return;
      throttle.run(`not asked ${source}`, (unsaid) => {
        const what = "a source is asked later for collections at which it ended earlier streams";
        logger.warn(what, { source, collections, ...counted(unsaid) });
      });
    },
    push: (stream, { head, kind }, bytes) => {
      if (!logger.enabled("debug")) return;
      const { type, nonce, version, incremental } = head;
      logger.debug("push", { ...fieldsOf(stream), type, nonce, version, incremental, kind, bytes });
    },
    acked: (stream, { type, nonce }) => {
      if (logger.enabled("debug")) logger.debug("ACK", { ...fieldsOf(stream), type, nonce });
    },
    nacked: (stream, { type, nonce }, { code, message: reason }) => {
      if (!logger.enabled("debug")) return;
      logger.debug("NACK", { ...fieldsOf(stream), type, nonce, code, reason });
    },
    closed: (stream, reason) => {
      const fields = fieldsOf(stream);
      if (reason === undefined) logger.debug("stream closed", fields);
      else {
        throttle.run(`ended ${stream.source}`, (unsaid) => {
          logger.info("stream ended", { ...fields, reason, ...counted(unsaid) });
        });
      }
    },
    denied: (address, reason) =>
      // By who it is, since the reason may hold what it chose.
      throttle.run(`denied ${address.replace(/:\d+$/, "")}`, (unsaid) => {
        logger.warn("a source is not let in", { peer: address, reason, ...counted(unsaid) });
      }),
  };
}

function notAsked(stream: ReceivedStreamInfo): string[] {
  return stream.collections().flatMap(({ collection, askedAgainAt }) =>
    askedAgainAt === undefined ? [] : [collection]
  );
}

function fieldsOf({ source, address: peer, instance }: ReceivedStreamInfo) {
  return { source, peer, ...(instance === source ? {} : { instance }) };
}

/** What the log says of servers that we pull from: each change of state once, failures in between at debug level. */
export function logPulls(log: Log, down: KnownDown = new KnownDown()): PullObserver {
  const logger = log.logger("pull");
  const throttle = new Throttle({ period: QUIET });
  return {
    up: (url, address, variant) => {
      down.up(url);
      logger.info("pulling", { url, address, variant });
    },
    down: (url, address, reason, retryInMs) => {
      const fields = { url, address, reason, retryInMs: Math.round(retryInMs) };
      const known = down.failed(url, retryInMs);
      if (known) logger.debug("still not reached", fields);
      else logger.warn("not reached; it is dialled again and again, what it gave stays", fields);
    },
    learned: (url, address, reason) =>
      throttle.run(url, (unsaid) => {
        const fields = { url, address, reason, ...counted(unsaid) };
        logger.info("dialled again with what was learned of the server", fields);
      }),
  };
}

/** What the log says of the token files of sources: what is wrong with one, and when it is over (undefined). */
export function logTokenProblems(log: Log): (source: string, problem: string | undefined) => void {
  const logger = log.logger("source");
  return (source, problem) =>
    problem === undefined
      ? logger.info("the token is as it should be again", { source })
      : logger.warn("the source's token cannot be used", { source, problem });
}

/** What cannot be dialled as it is configured, and why. */
export interface Undialable {
  readonly name: string;
  readonly reason: string;
}

/**
 * What the log says of settings that do not let something be dialled: each once, and again when its
 * reason changes. To be called with all there are whenever settings are put into effect. `what`: for
 * example `sink`.
 */
export function logUndialable(log: Log, what: string): (all: readonly Undialable[]) => void {
  const logger = log.logger(what);
  let said = new Map<string, string>();
  return (all) => {
    for (const { name, reason } of all) {
      if (said.get(name) === reason) continue;
      logger.error(`the ${what} cannot be dialled`, { [what]: name, reason });
    }
    said = new Map(all.map(({ name, reason }) => [name, reason]));
  };
}
