/**
 * The settings that a configuration holds besides its services, normalised: defaults filled in,
 * durations in milliseconds, sizes in bytes. Text that may hold `${NAME}` is kept unexpanded and
 * expanded where it is used, so that a stored snapshot holds no secret that is in a variable or a file.
 * One that is written out in the configuration is stored as it is; loading warns of those.
 *
 * @module
 */

/**
 * Where the files of a TLS identity are: a folder with `tls.crt`, `tls.key` and `ca.crt`, or each by
 * its own path. As written: relative to the folder of the configuration, with `${NAME}` unexpanded.
 */
export type TlsFiles =
  | { readonly kind: "folder"; readonly folder: string }
  | {
    readonly kind: "files";
    readonly cert?: string;
    readonly key?: string;
    /** Whom to trust. Absent: a server asks for no client certificate, a client trusts the system's. */
    readonly ca?: string;
  };

/** TLS towards someone we dial. */
export interface ClientTlsSettings {
  /** A certificate of ours is shown only where there is one. */
  readonly files: TlsFiles;
  /** Name that the server's certificate must have. Absent: the host dialled. */
  readonly serverName?: string;
}

/** A listener for sinks and clients. */
export interface ListenSettings {
  /** `host:port`; an IPv6 host in brackets. */
  readonly address: string;
  /** Absent: plaintext. */
  readonly tls?: TlsFiles;
  /** Patterns of SPIFFE URIs and DNS names of client certificates that may connect; empty: any that the CA vouches for. */
  readonly allow: readonly string[];
  /** Whether plaintext off loopback is meant. */
  readonly insecure: boolean;
}

/** How someone that we dial is reached. */
export interface DialSettings {
  /** `host:port`. */
  readonly address: string;
  /** Absent: plaintext. */
  readonly tls?: ClientTlsSettings;
  /** File whose content goes along as `authorization: Bearer`; read at each attempt. Relative to the folder of the configuration. */
  readonly tokenFile?: string;
  /** HTTP CONNECT proxy, `http://[user:password@]host:port`; `${NAME}` unexpanded. */
  readonly proxy?: string;
  /** gRPC metadata headers sent with the stream. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A remote ResourceSink to dial; every address behind the host gets its own stream. */
export interface SinkSettings extends DialSettings {
  /** Unique; names the sink in logs, metrics and status. */
  readonly name: string;
  /** A stream idle this long is asked for a sign of life. Milliseconds; default 30 s. */
  readonly heartbeat: number;
  /** MCP collections that the sink may have; empty: all. */
  readonly collections: readonly string[];
  /** In which wave it gets a change; 1 is the first. */
  readonly wave: number;
}

/** An MCP-over-xDS server whose resources are served along with our own: `xds://host:port` among `include`. */
export interface PullSettings extends DialSettings {
  /** `xds://host:port`; unique; names the source in logs, metrics and status. */
  readonly url: string;
  /** Patterns of namespaces that it may fill; empty: all. */
  readonly namespaces: readonly string[];
}

/** Which sources may dial our ResourceSink, and what they may fill. */
export interface SourceRule {
  /** Pattern of a source's name: its certificate's SPIFFE URI or DNS name, its token's name, its instance or its address. */
  readonly source: string;
  /** Patterns of namespaces that it may fill; empty: all. */
  readonly namespaces: readonly string[];
}

/** What becomes of equal hosts in entries of different names from different sources. */
export type MergeMode = "endpoints" | "refuse";

/** Being a ResourceSink for other sources. */
export interface ReceiveSettings {
  /** `host:port`; an IPv6 host in brackets. */
  readonly address: string;
  /** Absent: plaintext. */
  readonly tls?: TlsFiles;
  /** Whether plaintext off loopback, or TLS that proves no source's identity, is meant. */
  readonly insecure: boolean;
  /** The first that matches counts; empty: every source may fill everything. */
  readonly from: readonly SourceRule[];
  /** Files with bearer tokens, by the name of the source that holds it; read again when they change. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly merge: MergeMode;
  /** How long the set of a source that is away is kept. Milliseconds; absent: for ever. */
  readonly keep?: number;
  /** MCP collections asked for; empty: all. */
  readonly collections: readonly string[];
}

/** What kind of client a peer is, so which resources it is served. */
export type ClientKind = "istio" | "envoy" | "grpc" | "dubbo";

/** Whom a rule is for: all that is given must match. Texts are patterns (`*` stands for any text). */
export interface PeerMatch {
  /** Node id. */
  readonly id?: string;
  /** Annotations of an MCP sink's node. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Top-level texts of an xDS node's metadata, for example ISTIO_VERSION. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** SPIFFE URI or DNS name of the client's certificate. */
  readonly identity?: string;
  /** `listen` address that it dialled, as configured. */
  readonly listener?: string;
  /** Name of the sink, where we dialled. */
  readonly sink?: string;
}

/** What peers get that match. */
export interface PeerRule {
  readonly match: PeerMatch;
  /** Absent: told by what the peer says of itself. */
  readonly as?: ClientKind;
  /** Patterns of namespaces that it gets; empty: all. */
  readonly namespaces: readonly string[];
  /** Labels that a resource must have; empty: none. */
  readonly labels: Readonly<Record<string, string>>;
  /** In which wave it gets a change; 1 is the first. Absent: the sink's own wave, else 1. */
  readonly wave?: number;
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

/** What Envoys that are served directly are told. */
export interface EnvoySettings {
  /** IP address that outbound listeners bind to. */
  readonly bind: string;
  /** Added to the port of a service to get that of its listener. */
  readonly portOffset: number;
  /** File on the Envoy's machine with the authorities that vouch for endpoints of services with `subjectAltNames`. */
  readonly trustedCa: string;
}

/** Everything of a configuration but its services. */
export interface Settings {
  readonly defaults: DefaultSettings;
  /** Further files, folders and patterns, as written; relative to the file that names them. */
  readonly include: readonly string[];
  /** Our name to peers. */
  readonly instance: string;
  readonly listen: readonly ListenSettings[];
  /** For peers, whoever dialled; the first that matches counts. */
  readonly peers: readonly PeerRule[];
  readonly sinks: readonly SinkSettings[];
  /** What `include` names by `xds://`; not among {@link Settings.include}. */
  readonly pull: readonly PullSettings[];
  /** Absent: nobody may dial us as a source. */
  readonly receive?: ReceiveSettings;
  readonly push: PushSettings;
  readonly envoy: EnvoySettings;
  readonly watch: WatchSettings;
  readonly limits: LimitSettings;
  /** `host:port` of the admin listener; absent: none. */
  readonly admin?: string;
  readonly log: LogSettings;
  /** Answer to a request for an MCP collection that is not served. */
  readonly unknownCollection: UnknownCollection;
}
