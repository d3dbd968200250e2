/**
 * `/api/v1/status`: everything that a person or a program may want to know of a running Pinnace.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { ClientKind } from "../model/settings.ts";
import type { SubscriptionStatus } from "../protocol/stream.ts";
import type { PublisherStatus } from "../rollout/publishing.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { ChangeEvent } from "./event_schema.ts";
import type { Status } from "./status_schema.ts";

export { type Status, statusSchema } from "./status_schema.ts";

/** Longest text of a peer that is shown whole. UTF-16 code units. */
const BRIEF = 256;

/** Longest reason of a source that is shown whole. UTF-16 code units. */
const REASON = 2000;

/** Events shown along with the rest. */
const EVENTS = 5;

/** A stream, as far as the status looks at it. */
export interface StatusPeer {
  readonly key: number;
  readonly protocol: Status["peers"][number]["protocol"];
  readonly address: string;
  readonly peer: { readonly id: string; readonly userAgent?: string } | undefined;
  readonly sink: string | undefined;
  /** Who its certificate says it is. */
  readonly identity?: string | undefined;
  /** `listen` address that it dialled, as configured. */
  readonly listener?: string | undefined;
  readonly kind: ClientKind;
  /** Which of the rules of `peers` it matched, counted from 1. */
  readonly rule?: number | undefined;
  readonly wave: number;
  readonly openedAt: number;
  readonly bytesSent: number;
  readonly oldestUnacked: number | undefined;
  subscriptions(): readonly SubscriptionStatus[];
}

/** A dial-out, as far as the status looks at it. */
export interface StatusSink {
  readonly name: string;
  readonly address: string;
  readonly unresolved?: string;
  readonly links: readonly {
    readonly address: string;
    readonly state:
      | { readonly kind: "dialling" | "up"; readonly since: number }
      | { readonly kind: "waiting"; readonly retryAt: number };
    readonly attempts: number;
    readonly lastError?: string;
  }[];
}

/** A source of resources, as far as the status looks at it. Times in milliseconds since the epoch. */
export interface StatusSource {
  /** Identity, token's name, instance or address of one that dials us; `xds://host:port` of one that we pull from. */
  readonly name: string;
  readonly via: "receive" | "pull";
  /** `host:port` of its newest stream; of one that we pull from, the address dialled. */
  readonly address?: string | undefined;
  /** What it calls itself. */
  readonly instance?: string | undefined;
  /** `stale`: away, its last set stays. `waiting`: it has given nothing yet. */
  readonly state: "connected" | "stale" | "waiting";
  /** Since when it is in this state, as far as that is known. */
  readonly since?: number | undefined;
  /** How many resources it has given, by kind; kinds of none may be left out. */
  readonly resources: Readonly<Record<string, number>>;
  readonly lastPushAt?: number | undefined;
  /** The last push that was refused, until one is accepted. */
  readonly refused?: { readonly at: number; readonly message: string } | undefined;
  /** A set of its that waits to be confirmed. */
  readonly held?: { readonly id: string; readonly message: string } | undefined;
  /** Why it cannot be reached, or why its last stream ended. */
  readonly lastError?: string | undefined;
  readonly streams: readonly {
    readonly address: string;
    readonly openedAt: number;
    readonly pushes: number;
    readonly nacks: number;
  }[];
}

/** A port that is open or is to be, as far as the status looks at it. */
export interface StatusListen {
  /** `host:port`, as bound; as configured where it is not open yet. */
  readonly address: string;
  /** Who is to dial it: sinks and clients, or sources. */
  readonly use: "peers" | "sources";
  readonly tls: boolean;
  /** Whether it takes connections. */
  readonly alive: boolean;
  /** Why it is not open yet. */
  readonly problem?: string | undefined;
}

/** A certificate of ours, as far as the status looks at it. */
export interface StatusCertificate {
  /** Where it is used: `listen ADDRESS`, `receive ADDRESS`, `sink NAME`, `pull URL`. */
  readonly use: string;
  /** Absent: it could never be read. */
  readonly subject?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly notAfter?: number | undefined;
  /** Why the files do not give another by now. */
  readonly problem?: string | undefined;
}

/** What the status is made of. Times in milliseconds since the epoch. */
export interface StatusSources {
  readonly instance: string;
  readonly version: string;
  readonly startedAt: number;
  readonly now: number;
  readonly listen: readonly StatusListen[];
  readonly snapshot: Snapshot | undefined;
  readonly publisher: PublisherStatus;
  readonly reload:
    | { readonly at: number; readonly ok: boolean; readonly durationMs: number }
    | undefined;
  readonly findings: readonly Finding[];
  readonly peers: readonly StatusPeer[];
  readonly sinks: readonly StatusSink[];
  readonly sources: readonly StatusSource[];
  readonly certificates: readonly StatusCertificate[];
  /** Newest first; only the first few are shown. */
  readonly events: readonly ChangeEvent[];
}

/** Puts the status together. */
export function buildStatus(sources: StatusSources): Status {
  const { instance, version, startedAt, now, listen, publisher, findings, events } = sources;
  const { alerts, store } = publisher;
  return {
    instance,
    version,
    startedAt: iso(startedAt),
    listen: listen.map(({ problem, ...port }) => ({ ...port, ...given({ problem }) })),
    ...describePublished(sources),
    ...describeHeld(publisher),
    alerts: alerts.map(({ kind, since, message }) => ({ kind, since: iso(since), message })),
    ...describeReload(sources),
    findings: findings.map(describeFinding),
    peers: sources.peers.map((one) => describePeer(one, now)),
    sinks: sources.sinks.map(describeSink),
    sources: sources.sources.map(describeSource),
    certificates: sources.certificates.map(describeCertificate),
    events: events.slice(0, EVENTS),
    store: { place: store.place, durable: store.durable },
  };
}

function describePublished(
  { snapshot, publisher: { published } }: StatusSources,
): Pick<Status, "snapshot"> {
  if (snapshot === undefined || published === undefined) return {};
  const counts = [...snapshot.collections].map(([kind, { size }]) => [kind, size] as const);
  return {
    snapshot: {
      id: snapshot.id,
      publishedAt: iso(published.publishedAt),
      saved: published.saved,
      services: snapshot.services.size,
      resources: Object.fromEntries(counts),
    },
  };
}

function describeHeld({ held }: PublisherStatus): Pick<Status, "held"> {
  if (held === undefined) return {};
  const { id, since, verdict: { removed: removes, of }, message } = held;
  return { held: { id, since: iso(since), removes, of, message } };
}

function describeReload({ reload, findings }: StatusSources): Pick<Status, "reload"> {
  if (reload === undefined) return {};
  const { at, ok, durationMs } = reload;
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  return { reload: { at: iso(at), ok, durationMs, errors, warnings } };
}

function describeFinding({ position, path: _, ...rest }: Finding): Status["findings"][number] {
  return { ...rest, ...position };
}

function describePeer(one: StatusPeer, now: number): Status["peers"][number] {
  const { key, protocol, address, peer, sink, openedAt, bytesSent, oldestUnacked } = one;
  const { identity, listener, kind, rule, wave } = one;
  return {
    key,
    protocol,
    address,
    ...given({ identity: optionally(identity, brief), listener }),
    ...(peer && { node: brief(peer.id) }),
    ...given({ userAgent: optionally(peer?.userAgent, brief), sink, rule }),
    kind,
    wave,
    openedAt: iso(openedAt),
    bytesSent,
    ...given({ oldestUnackedMs: optionally(oldestUnacked, (at) => now - at) }),
    subscriptions: one.subscriptions().map((each) => ({ ...each, type: brief(each.type) })),
  };
}

function describeSink({ name, address, unresolved, links }: StatusSink): Status["sinks"][number] {
  return {
    name,
    address,
    ...given({ unresolved }),
    links: links.map(({ address, state, attempts, lastError }) => ({
      address,
      state: state.kind,
      ...(state.kind === "waiting" ? { retryAt: iso(state.retryAt) } : { since: iso(state.since) }),
      attempts,
      ...given({ lastError }),
    })),
  };
}

function describeSource(one: StatusSource): Status["sources"][number] {
  const { name, via, state, since, resources, refused, held, streams, lastPushAt } = one;
  const { address, instance, lastError } = one;
  return {
    name: brief(name),
    via,
    ...given({ address, instance: optionally(instance, brief) }),
    state,
    resources: { ...resources },
    ...given({
      since: optionally(since, iso),
      lastPushAt: optionally(lastPushAt, iso),
      refused: optionally(refused, ({ at, message }) => ({ at: iso(at), message: cut(message) })),
      held: optionally(held, ({ id, message }) => ({ id, message })),
      lastError: optionally(lastError, cut),
    }),
    streams: streams.map(({ address, openedAt, pushes, nacks }) => ({
      address,
      openedAt: iso(openedAt),
      pushes,
      nacks,
    })),
  };
}

function describeCertificate(
  { use, subject, notAfter, problem }: StatusCertificate,
): Status["certificates"][number] {
  return {
    use,
    ...given({ subject: optionally(subject, brief), notAfter: optionally(notAfter, iso), problem }),
  };
}

/** What is there of these: a field without a value is left out. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function optionally<T, R>(value: T | undefined, use: (value: T) => R): R | undefined {
  return value === undefined ? undefined : use(value);
}

/** What a peer says of itself may be as long as a message; thousands of those are no status. */
function brief(text: string): string {
  return shortened(text, BRIEF);
}

function cut(text: string): string {
  return shortened(text, REASON);
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
