/**
 * What people and monitoring see of the running program: metrics, health, status, and the admin
 * listener that shows them.
 *
 * @module
 */
import { expandAddress } from "../config/expand_address.ts";
import type { EventLog } from "../admin/events.ts";
import { type Health, Heartbeat, type PushLoop } from "../admin/health.ts";
import {
  AdminListenError,
  type AdminServer,
  type ListedSnapshot,
  openAdmin,
} from "../admin/http.ts";
import { Metrics } from "../admin/metrics.ts";
import {
  buildStatus,
  type Status,
  type StatusCertificate,
  type StatusListen,
  type StatusSource,
} from "../admin/status.ts";
import { type AdminToken, loadToken } from "../admin/token.ts";
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Publisher } from "../rollout/publisher.ts";
import type { Hub } from "../snapshot/hub.ts";
import type { SnapshotStore } from "../snapshot/store.ts";
import type { SessionInfo } from "../transport/session.ts";
import type { SinkStatus } from "../transport/sink_dialer.ts";
import type { OpenPort } from "./listeners.ts";
import type { ReloadState } from "./reloader.ts";
import { VERSION } from "./version.ts";

/** What is shown. */
export interface OfficeSources {
  readonly hub: Hub;
  readonly store: SnapshotStore;
  readonly publisher: () => Publisher;
  readonly reload: () => ReloadState | undefined;
  readonly sessions: () => readonly SessionInfo[];
  readonly sinks: () => readonly SinkStatus[];
  /** Ports that peers dial, and those that sources do. */
  readonly ports: () => {
    readonly listen: readonly OpenPort[];
    readonly receive: readonly OpenPort[];
  };
  /** What we show to those whom we dial. */
  readonly clientCertificates: () => readonly StatusCertificate[];
  /** What gives us resources besides our own configuration. */
  readonly sources: () => readonly StatusSource[];
  readonly events: () => EventLog;
  /** What is to be said besides what loading and the store have to say. */
  readonly findings: () => readonly Finding[];
  readonly connections: () => number;
  readonly pushLoop: () => PushLoop;
  /** Says what a person should see to. */
  readonly warn: (message: string) => void;
}

/** Shows what there is to see. Disposing it closes the admin listener. */
export class Office implements AsyncDisposable {
  readonly metrics: Metrics;
  readonly #sources: OfficeSources;
  readonly #startedAt = systemClock.now();
  readonly #heartbeat: Heartbeat;
  #instance = "";
  #hasPorts = true;
  #configured: string | undefined;
  #server: AdminServer | undefined;

  constructor(sources: OfficeSources) {
    this.#sources = sources;
    this.#heartbeat = new Heartbeat(() => performance.now(), sources.pushLoop);
    this.metrics = new Metrics({
      version: VERSION,
      startedAt: this.#startedAt,
      now: systemClock.now,
      snapshot: () => sources.hub.current?.snapshot,
      publisher: () => sources.publisher().status(),
      reload: sources.reload,
      streams: sources.sessions,
      sinks: sources.sinks,
      connections: sources.connections,
      sources: sources.sources,
      certificates: () => this.#certificates(),
      loopDelay: () => this.#heartbeat.delay,
    });
  }

  /** Where the admin listener is, as bound. */
  get address(): string | undefined {
    return this.#server?.address;
  }

  /** Opens the admin listener that the settings name, and no other. Rejects with an AdminListenError that names the setting to change. */
  async open({ admin, instance, listen }: Settings): Promise<void> {
    this.#instance = instance;
    this.#hasPorts = listen.length > 0;
    if (admin === this.#configured) return;
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
    this.#configured = undefined;
    if (admin !== undefined) this.#server = await this.#listen(admin);
    this.#configured = admin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#heartbeat[Symbol.dispose]();
    await this.#server?.[Symbol.asyncDispose]();
    await this.metrics[Symbol.asyncDispose]();
  }

  async #listen(admin: string): Promise<AdminServer> {
    const at = expandAddress(admin);
    if (!at.ok) throw new AdminListenError(`\`admin\`: ${at.message}; ${at.hint}`);
    const { publisher } = this.#sources;
    const token = await this.#token();
    try {
      return openAdmin({
        host: at.host,
        port: at.port,
        token,
        sources: {
          health: () => this.#heartbeat.check(),
          ready: () => this.#ready(),
          metrics: () => this.metrics.render(),
          status: () => this.#status(),
          events: (query) => this.#sources.events().list(query),
          snapshots: () => this.#snapshots(),
          confirm: (id) => publisher().confirm(id),
        },
      });
    } catch (error) {
      if (!(error instanceof AdminListenError)) throw error;
      throw new AdminListenError(`${error.message}; \`admin\` in the configuration changes it`, {
        cause: error,
      });
    }
  }

  async #token(): Promise<AdminToken> {
    const { store, warn } = this.#sources;
    if (!store.durable) return { kind: "none", reason: "there is none without a store on disk" };
    const token = await loadToken(store.place);
    if (token.kind === "none") warn(`there is no admin token: ${token.reason}`);
    return token;
  }

  #ready(): Health {
    const { hub, ports } = this.#sources;
    const { listen, receive } = ports();
    if (hub.current === undefined) return { ok: false, reason: "there is nothing to serve yet" };
    // None is needed where sinks are only dialled.
    if (this.#hasPorts && listen.length === 0) return { ok: false, reason: "no port is open" };
    const dead = [...listen, ...receive].find(({ alive }) => !alive);
    if (dead === undefined) return { ok: true };
    if (dead.waits !== undefined) return { ok: false, reason: dead.waits };
    return { ok: false, reason: `${dead.address} takes no connections; it is being opened anew` };
  }

  #status(): Status {
    const { hub, publisher, reload, sessions, sinks, ports, sources, events } = this.#sources;
    const { listen, receive } = ports();
    const publishing = publisher().status();
    return buildStatus({
      instance: this.#instance,
      version: VERSION,
      startedAt: this.#startedAt,
      now: systemClock.now(),
      listen: [...listen.map(shown("peers")), ...receive.map(shown("sources"))],
      snapshot: hub.current?.snapshot,
      publisher: publishing,
      reload: reload(),
      findings: [
        ...reload()?.findings ?? [],
        ...publishing.store.findings,
        ...this.#sources.findings(),
      ],
      peers: sessions(),
      sinks: sinks(),
      sources: sources(),
      certificates: this.#certificates(),
      events: events().list({ limit: 5 }),
    });
  }

  /** What ports show to those who dial, and what we show to those whom we do. */
  #certificates(): StatusCertificate[] {
    const { listen, receive } = this.#sources.ports();
    const of = (use: string) => ({ configured, tls, waits }: OpenPort): StatusCertificate[] => {
      if (waits !== undefined) return [{ use: `${use} ${configured}`, problem: waits }];
      if (tls === undefined) return [];
      const { subject, notAfter, problem } = tls;
      const what = problem === undefined ? {} : { problem: problem.message };
      return [{ use: `${use} ${configured}`, subject, notAfter, ...what }];
    };
    return [
      ...listen.flatMap(of("listen")),
      ...receive.flatMap(of("receive")),
      ...this.#sources.clientCertificates(),
    ];
  }

  async #snapshots(): Promise<readonly ListedSnapshot[]> {
    const { store, hub } = this.#sources;
    const published = hub.current?.snapshot.id;
    return (await store.list()).map(({ id, savedAt, sequence, resources }) => ({
      id,
      savedAt: new Date(savedAt).toISOString(),
      sequence,
      resources,
      published: id === published,
    }));
  }
}

const shown = (use: StatusListen["use"]) => (port: OpenPort): StatusListen => {
  const { address, tls, alive, waits } = port;
  // Only what is to have TLS waits.
  return { address, use, tls: tls !== undefined || waits !== undefined, alive, problem: waits };
};
