/**
 * The ports of one server: opened as the settings say, and opened anew when the first configuration
 * read at start names others than the stored one did. One whose TLS files cannot be used waits for them.
 *
 * @module
 */
import { expandAddress } from "../config/expand_address.ts";
import { expandTlsFiles } from "../config/expand_files.ts";
import { formatHostPort } from "../model/host_port.ts";
import { isLoopback } from "../model/loopback.ts";
import type { TlsFiles } from "../model/settings.ts";
import { ConnectionRoom } from "../transport/connection_room.ts";
import { listen, type Listener, type ListenerHooks, ListenError } from "../transport/listener.ts";
import type { PushServer } from "../transport/server.ts";
import { type OwnCertificate, TlsFilesError } from "../transport/tls_files.ts";
import { type TlsProblem, TlsServer, type TlsServerStatus } from "../transport/tls_server.ts";
import { NotYetError, WaitingPort } from "./waiting_port.ts";

/** A port to listen on, as configured. */
export interface Port {
  /** `host:port`; names the port to `peers` rules. */
  readonly address: string;
  /** Absent: plaintext. */
  readonly tls?: TlsFiles;
  /** Whether clients must show a certificate, where `tls` has a CA. */
  readonly certificate: "require" | "request";
  /** Patterns of whom to let in; empty: whom the CA vouches for. */
  readonly allow: readonly string[];
  /** Whether plaintext off loopback is meant. */
  readonly insecure: boolean;
  /** Whether whoever dials is believed to be who it says, without any proof. */
  readonly unproven: boolean;
}

/** What is not protected of a port that others than this machine can dial. */
export type Exposure = "plaintext" | "unproven";

/** What ports work with. */
export interface ListenersOptions {
  readonly server: PushServer;
  readonly hooks: ListenerHooks;
  /** Folder that relative paths start from. Absolute. */
  readonly folder: string;
  readonly ports: PortObserver;
  /** How many connections these ports and others take together. Default: a room for these alone. */
  readonly room?: ConnectionRoom;
  /** How often a port that waits for its TLS files is tried. Milliseconds; default 2 s. */
  readonly retry?: number;
}

/** Told what becomes of ports, each called by its address as configured. None of it may throw. */
export interface PortObserver {
  /** What is wrong with the TLS files has changed; undefined: nothing is. */
  tlsProblem(address: string, problem: TlsProblem | undefined): void;
  /** New TLS files are in use. */
  rotated(address: string, certificate: OwnCertificate): void;
  /** It was opened, and this is not protected, as the settings mean it to be. */
  exposed(address: string, exposure: Exposure): void;
  /** It accepts nobody any more; it is opened anew until it does. */
  dead(address: string): void;
  /** It accepts again. */
  revived(address: string): void;
  /** It is not open for this reason, and is opened as soon as that is mended. Told of each other reason as well. */
  waits(address: string, reason: string): void;
  /** It waited, and is open now. */
  opened(address: string): void;
}

/** A port that is open, or is to be. */
export interface OpenPort {
  /** As configured. */
  readonly configured: string;
  /** `host:port`, as bound; of one that waits, as configured. */
  readonly address: string;
  /** Of a port that is secure: what it shows. */
  readonly tls?: TlsServerStatus;
  /** Whether it takes connections. */
  readonly alive: boolean;
  /** Why it is not open yet; it waits until that is mended. Absent: it was opened. */
  readonly waits?: string;
}

/** A port as it is held here. */
interface Held extends AsyncDisposable {
  status(): OpenPort;
}

/** Opens and closes the ports of one server. Disposing it closes them; live streams stay. */
export class Listeners implements AsyncDisposable {
  readonly #options: ListenersOptions;
  readonly #room: ConnectionRoom;
  #open = new Map<string, Held>();
  /** What was last said of the files of each address. */
  readonly #problems = new Map<string, string>();

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#room = options.room ?? new ConnectionRoom();
  }

  /** The ports that are open, and those that wait for their TLS files. */
  get ports(): readonly OpenPort[] {
    return [...this.#open.values()].map((port) => port.status());
  }

  /**
   * Listens on exactly these ports. Those already open stay open; one whose TLS files cannot be used
   * waits for them. Rejects with a ListenError that says what else is in the way; then nothing is changed.
   */
  async configure(ports: readonly Port[]): Promise<void> {
    const next = new Map<string, Held>();
    const opened: Held[] = [];
    try {
      for (const port of ports) {
        const key = JSON.stringify(port);
        const kept = this.#open.get(key);
        const one = kept ?? await this.#openOrWait(port);
        if (kept === undefined) opened.push(one);
        next.set(key, one);
      }
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
    const closing = [...this.#open].filter(([key]) => !next.has(key)).map(([, one]) => one);
    this.#open = next;
    await closeAll(closing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.configure([]);
  }

  async #openOrWait(port: Port): Promise<Held> {
    try {
      return await this.#listen(port);
    } catch (error) {
      if (!(error instanceof NotYetError)) throw error;
      return this.#wait(port, error);
    }
  }

  #wait(port: Port, error: NotYetError): Held {
    const { ports, retry } = this.#options;
    const { address } = port;
    ports.waits(address, error.message);
    const waiting = new WaitingPort({
      error,
      open: () => this.#listen(port),
      onChange: (reason) => {
        if (reason === undefined) ports.opened(address);
        else ports.waits(address, reason);
      },
      ...(retry === undefined ? {} : { every: retry }),
    });
    return {
      status: () =>
        waiting.opened?.status() ??
          { configured: address, address, alive: false, waits: waiting.reason },
      [Symbol.asyncDispose]: () => waiting[Symbol.asyncDispose](),
    };
  }

  async #listen(port: Port): Promise<Held> {
    const { server, hooks, ports } = this.#options;
    const { address } = port;
    const at = expandAddress(address);
    if (!at.ok) throw new ListenError(`cannot listen on ${address}: ${at.message}; ${at.hint}`);
    const exposures = exposuresOf(port, at.host);
    const secure = port.tls === undefined ? undefined : await this.#secure(port, port.tls);
    try {
      const listener = await listen(at, server, {
        now: () => performance.now(),
        hooks: { ...hooks, dead: () => ports.dead(address), revived: () => ports.revived(address) },
        name: address,
        room: this.#room,
        ...(secure === undefined ? {} : { secure: secure.secure }),
      });
      for (const exposure of exposures) ports.exposed(address, exposure);
      return held(address, listener, secure);
    } catch (error) {
      await secure?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Says what is wrong with the files once, however often they are read until the port is open. */
  #tell(address: string, problem: TlsProblem | undefined): void {
    const said = problem && JSON.stringify(problem);
    if (this.#problems.get(address) === said) return;
    if (said === undefined) this.#problems.delete(address);
    else this.#problems.set(address, said);
    this.#options.ports.tlsProblem(address, problem);
  }

  async #secure({ address, certificate, allow }: Port, tls: TlsFiles): Promise<TlsServer> {
    const { folder, ports } = this.#options;
    const expanded = expandTlsFiles(tls, { folder });
    const cannot = (message: string, hint: string, cause?: unknown) =>
      new NotYetError(`cannot listen on ${address} with TLS: ${message}; ${hint}`, { cause });
    if (!expanded.ok) throw cannot(expanded.message, expanded.hint);
    try {
      return await TlsServer.open({
        files: expanded.files,
        certificate,
        allow,
        onProblem: (problem) => this.#tell(address, problem),
        onRotated: (certificate) => ports.rotated(address, certificate),
      });
    } catch (error) {
      if (!(error instanceof TlsFilesError)) throw error;
      throw cannot(error.message, error.hint, error);
    }
  }
}

/**
 * What is not protected of a port on this host. Throws a ListenError where that is not meant: settings
 * are checked when they are read, but those of the store may find another environment.
 */
function exposuresOf({ address, tls, insecure, unproven }: Port, host: string): Exposure[] {
  if (isLoopback(host)) return [];
  if (tls === undefined && !insecure) {
    throw new ListenError(
      `cannot listen on ${address}: it is not loopback, and plaintext there can be read and changed ` +
        "on its way; give `tls`, or, where plaintext is meant, `insecure: true`",
    );
  }
  return [
    ...(tls === undefined ? ["plaintext" as const] : []),
    ...(unproven ? ["unproven" as const] : []),
  ];
}

function held(configured: string, listener: Listener, secure: TlsServer | undefined): Held {
  return {
    status: () => ({
      configured,
      address: formatHostPort(listener.address.host, listener.address.port),
      ...(secure === undefined ? {} : { tls: secure.status() }),
      alive: listener.alive,
    }),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      await secure?.[Symbol.asyncDispose]();
    },
  };
}

async function closeAll(ports: readonly Held[]): Promise<void> {
  await Promise.all(ports.map((port) => port[Symbol.asyncDispose]()));
}
