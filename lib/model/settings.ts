/**
 * The settings that a configuration holds besides its services, normalised: defaults filled in,
 * durations in milliseconds, sizes in bytes. Text that may hold `${NAME}` is kept unexpanded, so
 * that a stored snapshot never holds a secret; it is expanded where it is used.
 *
 * @module
 */

/** A listener for sinks and clients. */
export interface ListenSettings {
  /** `host:port`; an IPv6 host in brackets. */
  readonly address: string;
}

/** A remote ResourceSink to dial. */
export interface SinkSettings {
  /** Unique; names the sink in logs, metrics and status. */
  readonly name: string;
  /** `host:port`; every address behind the host gets its own stream. */
  readonly address: string;
  /** gRPC metadata headers sent with the stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream idle this long is asked for a sign of life. Milliseconds; default 30 s. */
  readonly heartbeat: number;
}

/** When a change is pushed. */
export interface PushSettings {
  /** A change waits until the files have been quiet for this long. Milliseconds. */
  readonly quiet: number;
  /** But never longer than this. Milliseconds. */
  readonly max: number;
  /** Share (0 to 1) of the published resources that one load may remove unconfirmed; counts from 20 resources on. */
  readonly guard: number;
}

/** How files are watched. */
export interface WatchSettings {
  /** How often files are compared even without an event. Milliseconds. */
  readonly poll: number;
}

/** Bounds on what is read and sent. */
export interface LimitSettings {
  /** Largest configuration file. Bytes. */
  readonly file: number;
  /** Largest message taken from a peer. Bytes. */
  readonly message: number;
}

/** How an MCP collection that Pinnace does not serve is answered. */
export type UnknownCollection = "empty" | "error";

/** Level below which nothing is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** How and how much is logged. */
export interface LogSettings {
  readonly level: LogLevel;
  readonly format: "text" | "json";
}

/** What services get that do not say it themselves. */
export interface DefaultSettings {
  readonly namespace: string;
  readonly domain: string;
  readonly exportTo: readonly string[];
}

/** Everything of a configuration but its services. */
export interface Settings {
  readonly defaults: DefaultSettings;
  /** Further files, folders and patterns, as written; relative to the file that names them. */
  readonly include: readonly string[];
  /** Our name to peers. */
  readonly instance: string;
  readonly listen: readonly ListenSettings[];
  readonly sinks: readonly SinkSettings[];
  readonly push: PushSettings;
  readonly watch: WatchSettings;
  readonly limits: LimitSettings;
  /** `host:port` of the admin listener; absent: none. */
  readonly admin?: string;
  readonly log: LogSettings;
  /** Answer to a request for an MCP collection that is not served. */
  readonly unknownCollection: UnknownCollection;
}
