/**
 * What the log says of snapshots: what was published, why, and what is held back.
 *
 * @module
 */
import { explain, type Fields, type Log, type Logger } from "../log.ts";
import type { Cause } from "../model/cause.ts";
import type { PublisherEvent } from "../rollout/publisher.ts";
import { resourceCount, type Snapshot } from "../snapshot/snapshot.ts";
import { causesOf, changeOf } from "./causes.ts";
import type { LatestNews } from "./latest_news.ts";

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

/**
 * What the log says of snapshots. What a source makes us hold back again and again is said once in a
 * while, the last always: a person has to know what there is to confirm.
 */
export function logPublisher(log: Log, news: LatestNews): (event: PublisherEvent) => void {
  const logger = log.logger("snapshot");
  const lookAtSize = warnOfSize(logger);
  return (event) => {
    switch (event.kind) {
      case "published":
        lookAtSize(event.publication.snapshot);
        return sayPublished(logger, event);
      case "restored":
        return logger.info("found in the store", { id: event.stored.snapshot.id });
      case "restoreFailed":
        return logger.error("the store cannot be read", { error: explain(event.error) });
      case "held":
      case "released":
        if (event.part === undefined) return sayHeld(logger, event, 0);
        return news.tell(`held ${event.part}`, (unsaid) => sayHeld(logger, event, unsaid));
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

type Published = Extract<PublisherEvent, { kind: "published" }>;

function sayPublished(logger: Logger, { publication, before, save }: Published): void {
  const { snapshot, causes = [] } = publication;
  const change = before === undefined ? "" : changeOf(before, snapshot);
  logger.info("published", {
    id: snapshot.id,
    resources: resourceCount(snapshot),
    services: snapshot.services.size,
    ...(change === "" ? {} : { changed: change }),
    ...causeFields(causes),
    save,
  });
}

type Guarded = Extract<PublisherEvent, { kind: "held" | "released" }>;

function sayHeld(logger: Logger, event: Guarded, unsaid: number): void {
  const { id, part: source } = event;
  const more = unsaid > 0 ? { unsaid } : {};
  if (event.kind === "released") {
    return logger.info("no longer held back", { id, source, why: event.why, ...more });
  }
  const { removed, of, limit: guard } = event.verdict;
  const hint = `if that is meant: pinnace snapshots confirm ${id}`;
  const fields = { id, source, removed, of, guard, hint, ...more };
  logger.warn("held back: it would remove too much", fields);
}

/** Causes by sort: files, sources, and what else there was. */
function causeFields(causes: readonly Cause[]): Fields {
  const of = (kinds: readonly Cause["kind"][]) => {
    const some = causesOf(causes.filter(({ kind }) => kinds.includes(kind)));
    return some === "" ? undefined : some;
  };
  return {
    files: of(["file"]),
    sources: of(["source"]),
    why: of(["settings", "confirmed", "start", "more"]),
  };
}
