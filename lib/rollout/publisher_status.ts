/**
 * How publishing stands, for people: what is published, what is held, what they should see to.
 *
 * @module
 */
import type { Publication } from "../snapshot/hub.ts";
import { resourceCount } from "../snapshot/snapshot.ts";
import type { SnapshotStore } from "../snapshot/store.ts";
import type { Alert, HeldCandidate, PublisherStatus } from "./publishing.ts";
import type { SaverStatus } from "./saver.ts";

/** Publishing waits no longer than this for a save. Milliseconds. */
export const SAVE_BUDGET = 250;

/** What the status is made of. Times in milliseconds since the epoch. */
export interface PublishingFacts {
  readonly current: Publication | undefined;
  readonly publishedAt: number;
  readonly held: HeldCandidate | undefined;
  readonly heldParts: readonly HeldCandidate[];
  readonly save: SaverStatus;
  readonly store: SnapshotStore;
  /** When the publisher was made. */
  readonly created: number;
  readonly restoreFailed: Alert | undefined;
  readonly now: number;
}

/** Puts the status together. */
export function describePublishing(facts: PublishingFacts): PublisherStatus {
  const { current, publishedAt, held, heldParts, save, store } = facts;
  return {
    ...(current && {
      published: {
        id: current.snapshot.id,
        changedAt: current.changedAt,
        publishedAt,
        resources: resourceCount(current.snapshot),
        saved: save.saved?.id === current.snapshot.id,
      },
    }),
    ...(held && { held: plain(held) }),
    heldParts: heldParts.map(plain),
    save,
    store: { place: store.place, durable: store.durable, findings: store.findings() },
    alerts: alertsOf(facts),
  };
}

function alertsOf(facts: PublishingFacts): Alert[] {
  const { held, heldParts, save: { failing, running }, store, now } = facts;
  const alerts: Alert[] = [];
  if (!store.durable) {
    const message = "snapshots are kept in memory only: a restart will not find them";
    alerts.push({ kind: "notDurable", since: facts.created, message });
  }
  if (facts.restoreFailed !== undefined) alerts.push(facts.restoreFailed);
  for (const { since, message } of held === undefined ? heldParts : [held, ...heldParts]) {
    alerts.push({ kind: "held", since, message });
  }
  if (failing !== undefined) {
    const message = `${failing.message} (tried ${failing.failures} times; a restart would ` +
      `serve what was saved last)`;
    alerts.push({ kind: "saveFailed", since: failing.since, message });
  }
  if (running !== undefined && now - running.since >= SAVE_BUDGET) {
    const message = `saving the snapshot ${running.id} takes long; it may be served already`;
    alerts.push({ kind: "saveSlow", since: running.since, message });
  }
  return alerts;
}

/** Without what it would publish. */
function plain({ id, part, verdict, since, message }: HeldCandidate): HeldCandidate {
  return { id, ...(part === undefined ? {} : { part }), verdict, since, message };
}
