/**
 * The registry of sources: who may give what, what each has given, and who is away. What a source gave
 * stays while it is away and over restarts; a source that is no longer configured is taken out, guarded.
 *
 * @module
 */
import { matchesPattern } from "../model/pattern.ts";
import type { PullSettings, ReceiveSettings } from "../model/settings.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Collections, Offered } from "../rollout/parts.ts";
import type { SourceStore, StoredSource } from "./received.ts";
import { isIncomplete, Recovery } from "./recovery.ts";
import type { SourceConnection, SourceIntroduction, SourceRegistry } from "./registry.ts";
import { KnownSource, type SourceContext } from "./source.ts";
import type { SourceEvent, SourceStatus } from "./source_events.ts";

/** What the registry works with. */
export interface SourcesOptions {
  readonly store: SourceStore;
  readonly clock: Clock;
  /** Puts what a source gives into effect, or holds it; `Publisher.offer` does. */
  readonly offer: (
    name: string,
    collections: Collections | undefined,
    options: { readonly changedAt: number; readonly trusted?: boolean },
  ) => Offered;
  /** Told which namespaces a source may fill (patterns; empty: all), before what it gives is offered. */
  readonly allowed: (name: string, namespaces: readonly string[]) => void;
  /** Told what happens. Must not throw. */
  readonly onEvent: (event: SourceEvent) => void;
  /** Largest set that is kept of a source. Bytes; default {@link MOST_BYTES}. */
  readonly mostBytes?: number;
}

/** Which sources there may be. */
export interface SourceRules {
  readonly receive?: ReceiveSettings;
  readonly pull: readonly PullSettings[];
}

/** Sources beyond this number are refused: each has a set in memory and a file. */
export const MAX_SOURCES = 1000;

/** What is kept of one source: some 350,000 ServiceEntries. Bytes. */
export const MOST_BYTES = 128 * 1024 * 1024;

/** How long what is being saved may take at the end. Milliseconds. */
const CLOSE_WITHIN = 2000;

/** Every source. Disposing it stops its timers and waits for what is being saved; streams are their owners' to end. */
export class Sources implements SourceRegistry, AsyncDisposable {
  readonly #options: SourcesOptions;
  readonly #context: SourceContext;
  readonly #sources = new Map<string, KnownSource>();
  readonly #recovery: Recovery;
  readonly #end = new AbortController();
  /** What is under way of forgetting sources, by name: who comes back meanwhile is saved after it. */
  readonly #removing = new Map<string, Promise<void>>();
  /** Those that no rule admits and the guard holds. */
  readonly #leaving = new Set<string>();
  #rules: SourceRules = { pull: [] };

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#recovery = new Recovery(options.offer, () => options.clock.now());
    this.#context = {
      mostBytes: MOST_BYTES,
      ...options,
      save: async (source) => {
        await this.#removing.get(source.name);
        await options.store.save(source);
      },
      signal: this.#end.signal,
      given: (kind, names) => this.#recovery.giveUp(kind, names),
      expired: (source) => this.#expire(source),
    };
  }

  /**
   * Takes what is stored into effect, unasked. `served` is what a restored snapshot has of other
   * sources; where a set could not be loaded (its file was damaged, say), what no other accounts for
   * goes on being served until a source gives it anew.
   */
  async load(served: Collections): Promise<void> {
    const stored = await this.#options.store.load();
    for (const one of [...stored].sort((a, b) => a.firstSeen - b.firstSeen)) {
      const source = this.#add(one);
      const namespaces = namespacesOf(one.name, this.#rules);
      if (namespaces !== undefined) this.#options.allowed(one.name, namespaces);
      source.offer({ trusted: true });
    }
    if (!isIncomplete({ loaded: stored.length, findings: this.#options.store.findings() })) return;
    this.#recovery.begin(served, [...this.#sources.values()].map(({ set }) => set.collections));
  }

  /** Makes these the rules. Sources that they do not allow are taken out, if the guard lets them. */
  configure(rules: SourceRules): void {
    this.#rules = rules;
    for (const source of this.#sources.values()) {
      const namespaces = namespacesOf(source.name, rules);
      if (namespaces === undefined) this.#takeOut(source);
      else {
        source.allow(namespaces, keepOf(source.name, rules));
        if (this.#leaving.delete(source.name)) source.offer(); // it was wanted no more, and is again
      }
    }
  }

  connect(introduction: SourceIntroduction): SourceConnection | { readonly refused: string } {
    const { name } = introduction;
    const namespaces = introduction.namespaces ?? namespacesOf(name, this.#rules);
    if (namespaces === undefined) return { refused: `no rule admits the source ${name}` };
    let source = this.#sources.get(name);
    if (source === undefined) {
      if (this.#sources.size >= MAX_SOURCES && !this.#makeRoom()) {
        return { refused: `there are ${MAX_SOURCES} sources already; no more are taken` };
      }
      const now = this.#options.clock.now();
      source = this.#add({
        name,
        set: { collections: new Map(), told: new Map() },
        firstSeen: now,
        lastSeen: now,
      });
    }
    source.allow(namespaces, keepOf(name, this.#rules));
    return source.connect(introduction);
  }

  /** Someone let pass what the guard held of this source. */
  confirmed(name: string): void {
    const source = this.#sources.get(name);
    if (source === undefined) return;
    if (namespacesOf(name, this.#rules) === undefined) void this.#forget(source, "unconfigured");
    else source.confirmed();
  }

  /** Each source, in the order in which they were first seen. */
  status(): readonly SourceStatus[] {
    const known = [...this.#sources.values()].map((source) => source.status());
    const recovered = this.#recovery.status();
    return recovered === undefined ? known : [...known, recovered];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    const done = new AbortController();
    const saved = Promise.all([...this.#sources.values()].map((source) => source.saved()));
    await Promise.race([saved, this.#options.clock.sleep(CLOSE_WITHIN, done.signal)]);
    done.abort();
  }

  /** Forgets a source that is away and gave nothing: whoever tries many names must keep nobody out. */
  #makeRoom(): boolean {
    const idle = this.#sources.values().find(({ isIdle }) => isIdle);
    if (idle !== undefined) this.#expire(idle);
    return idle !== undefined;
  }

  #add(stored: StoredSource): KnownSource {
    const source = new KnownSource(stored, this.#context);
    this.#sources.set(stored.name, source);
    return source;
  }

  #takeOut(source: KnownSource): void {
    const now = this.#options.clock.now();
    source.end(`the source ${source.name} is no longer configured`);
    const offered = this.#options.offer(source.name, undefined, { changedAt: now });
    if (offered === "held") this.#leaving.add(source.name);
    else void this.#forget(source, "unconfigured");
  }

  #expire(source: KnownSource): void {
    this.#options.offer(source.name, undefined, {
      changedAt: this.#options.clock.now(),
      trusted: true,
    });
    void this.#forget(source, "expired");
  }

  async #forget(source: KnownSource, why: "unconfigured" | "expired"): Promise<void> {
    this.#sources.delete(source.name);
    this.#leaving.delete(source.name);
    source.retire(why === "expired" ? "it was away for too long" : "it is no longer configured");
    const { name } = source;
    this.#options.onEvent({ kind: "forgotten", name, why });
    const removing = source.saved().then(() => this.#options.store.remove(name)).catch((error) =>
      this.#options.onEvent({ kind: "saveFailed", name, error })
    );
    this.#removing.set(name, removing);
    await removing;
    if (this.#removing.get(name) === removing) this.#removing.delete(name);
  }
}

/** Whether sources of this name are those that we dial. */
export function isPulled(name: string): boolean {
  return name.startsWith("xds://");
}

/** Which namespaces a source may fill; undefined: no rule admits it. */
function namespacesOf(name: string, { receive, pull }: SourceRules): readonly string[] | undefined {
  if (isPulled(name)) return pull.find(({ url }) => url === name)?.namespaces;
  if (receive === undefined) return undefined;
  if (receive.from.length === 0) return [];
  return receive.from.find(({ source }) => matchesPattern(source, name))?.namespaces;
}

function keepOf(name: string, { receive }: SourceRules): number | undefined {
  return isPulled(name) ? undefined : receive?.keep;
}
