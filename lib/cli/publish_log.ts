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
        const { before } = event;
        const change = before === undefined ? "" : changeOf(before, snapshot);
        return logger.info("published", {
          id: snapshot.id,
          resources: resourceCount(snapshot),
          services: snapshot.services.size,
          ...(change === "" ? {} : { changed: change }),
          ...causeFields(event.publication.causes ?? []),
          save: event.save,
        });
      }
      case "restored":
        return logger.info("found in the store", { id: event.stored.snapshot.id });
      case "restoreFailed":
        return logger.error("the store cannot be read", { error: explain(event.error) });
      case "held": {
        const { removed, of, limit } = event.verdict;
        const part = event.part === undefined ? {} : { source: event.part };
        const hint = `if that is meant: pinnace snapshots confirm ${event.id}`;
        return logger.warn("held back: it would remove too much", {
          id: event.id,
          ...part,
          removed,
          of,
          guard: limit,
          hint,
        });
      }
      case "released":
        return logger.info("no longer held back", {
          id: event.id,
          source: event.part,
          why: event.why,
        });
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
