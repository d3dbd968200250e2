/**
 * The registry of sources: who may give what, what each has given, and who is away. What a source gave
 * stays while it is away and over restarts; a source that is no longer configured is taken out, guarded.
 *
 * @module
 */
import { fitsSource } from "../model/identity_pattern.ts";
import type { PullSettings, ReceiveSettings } from "../model/settings.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Collections, Offered } from "../rollout/parts.ts";
import type { OfferOptions } from "../rollout/publishing.ts";
import type { SourceStore, StoredSource } from "./received.ts";
import { servedBySource } from "./origins.ts";
import { limitToNames } from "./limit_set.ts";
import type { SourceConnection, SourceIntroduction, SourceRegistry } from "./registry.ts";
import { emptySet } from "./source_set.ts";
import { MAX_SOURCES } from "./source_store.ts";
import { isProof } from "./proof.ts";
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
    options: OfferOptions,
  ) => Offered;
  /** Publishes nothing until disposed, so that what is offered can be saved before; `Publisher.pause` does. */
  readonly pause: () => Disposable;
  /** Told which namespaces a source may fill (patterns; empty: all), before what it gives is offered. */
  readonly allowed: (name: string, namespaces: readonly string[]) => void;
  /** Told what happens. Must not throw. */
  readonly onEvent: (event: SourceEvent) => void;
  /** Largest set that is kept of a source. Bytes; default {@link MOST_BYTES}. */
  readonly mostBytes?: number;
}

/** What a restored snapshot says of other sources. */
export interface Restored {
  /** All it has, by kind. */
  readonly served: Collections;
  /** Which source gave what, as `Snapshot.origins`. */
  readonly origins: Collections;
}

/** Which sources there may be. */
export interface SourceRules {
  readonly receive?: ReceiveSettings;
  readonly pull: readonly PullSettings[];
}

/** What is kept of one source: some 350,000 ServiceEntries. Bytes. */
export const MOST_BYTES = 128 * 1024 * 1024;

/** How long what is being saved may take at the end. Milliseconds. */
const CLOSE_WITHIN = 2000;

/** Every source. Disposing it stops its timers and saves what is not saved yet; streams are their owners' to end. */
export class Sources implements SourceRegistry, AsyncDisposable {
  readonly #options: SourcesOptions;
  readonly #context: SourceContext;
  readonly #sources = new Map<string, KnownSource>();
  readonly #end = new AbortController();
  /** What is under way of forgetting sources, by name: who comes back meanwhile is saved after it. */
  readonly #removing = new Map<string, Promise<void>>();
  /** Those that no rule admits and the guard holds. */
  readonly #leaving = new Set<string>();
  #rules: SourceRules = { pull: [] };

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#context = {
      mostBytes: MOST_BYTES,
      ...options,
      save: async (source) => {
        await this.#removing.get(source.name);
        await options.store.save(source);
      },
      signal: this.#end.signal,
      expired: (source) => this.#expire(source),
    };
  }

  /**
   * Takes what is stored into effect, unasked. `served` is what a restored snapshot has, and `origins`
   * who gave it: everyone goes on having what they had, and a source whose set is lost (its file is
   * damaged, or gone) what was served of it, until it gives everything anew.
   */
  async load({ served, origins }: Restored): Promise<void> {
    const bySource = servedBySource(served, origins);
    const stored = await this.#options.store.load();
    for (const one of [...stored].sort((a, b) => a.firstSeen - b.firstSeen)) this.#restore(one);
    for (const [name, collections] of bySource) {
      if (!this.#sources.has(name)) this.#recover(name, collections);
    }
    const options = {
      changedAt: this.#options.clock.now(),
      trusted: true,
      causes: [{ kind: "start" }],
    } as const;
    // First what each had, then what it would have: so nobody takes anything from another.
    for (const { name, set } of this.#sources.values()) {
      const had = limitToNames(set.collections, bySource.get(name) ?? new Map());
      this.#options.offer(name, had, options);
    }
    for (const source of this.#sources.values()) source.offer(options);
  }

  /** Makes these the rules. Sources that they do not allow are taken out, if the guard lets them. */
  configure(rules: SourceRules): void {
    this.#rules = rules;
    for (const source of this.#sources.values()) {
      const namespaces = namespacesOf(source, rules);
      if (namespaces === undefined) this.#takeOut(source);
      else {
        source.allow(namespaces, keepOf(source.name, rules));
        if (this.#leaving.delete(source.name)) source.offer(); // it was wanted no more, and is again
      }
    }
  }

  connect(introduction: SourceIntroduction): SourceConnection | { readonly refused: string } {
    const { name } = introduction;
    const namespaces = introduction.namespaces ?? namespacesOf(introduction, this.#rules);
    if (namespaces === undefined) return { refused: `no rule admits the source ${name}` };
    let source = this.#sources.get(name);
    if (source === undefined) {
      if (this.#sources.size >= MAX_SOURCES && !this.#makeRoom()) {
        return { refused: `there are ${MAX_SOURCES} sources already; no more are taken` };
      }
      const now = this.#options.clock.now();
      source = this.#add({ name, set: emptySet(), firstSeen: now });
    }
    if (source.isProven && !isPulled(name) && !isProof(introduction.namedBy)) {
      return {
        refused: `${name} has proved its name by certificate or token before, and does not now`,
      };
    }
    source.allow(namespaces, keepOf(name, this.#rules));
    return source.connect(introduction);
  }

  /** Someone let pass what the guard held of this source. */
  confirmed(name: string): void {
    const source = this.#sources.get(name);
    if (source === undefined) return;
    if (namespacesOf(source, this.#rules) === undefined) void this.#forget(source, "unconfigured");
    else source.confirmed();
  }

  /** Each source, in the order in which they were first seen. */
  status(): readonly SourceStatus[] {
    return [...this.#sources.values()].map((source) => source.status());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    const done = new AbortController();
    const saved = Promise.all([...this.#sources.values()].map((source) => source.flush()));
    await Promise.race([saved, this.#options.clock.sleep(CLOSE_WITHIN, done.signal)]);
    done.abort();
  }

  /** Forgets a source that is away and gave nothing: whoever tries many names must keep nobody out. */
  #makeRoom(): boolean {
    const idle = this.#sources.values().find(({ isIdle }) => isIdle);
    if (idle !== undefined) this.#expire(idle);
    return idle !== undefined;
  }

  #restore(stored: StoredSource): KnownSource {
    const namespaces = namespacesOf(stored, this.#rules);
    if (namespaces !== undefined) this.#options.allowed(stored.name, namespaces);
    return this.#add(stored);
  }

  /** What the source itself calls its versions is lost, so that it gives everything anew. */
  #recover(name: string, collections: Collections): void {
    const { clock, onEvent } = this.#options;
    const unknown = (collection: Iterable<{ readonly name: string }>) =>
      new Map(Array.from(collection, ({ name }) => [name, ""] as const));
    const told = new Map([...collections].map(([kind, all]) => [kind, unknown(all)] as const));
    const set = { collections, told };
    this.#restore({ name, set, firstSeen: clock.now() }).recovered();
    const resources = [...collections.values()].reduce((sum, { size }) => sum + size, 0);
    onEvent({ kind: "recovered", name, resources });
  }

  #add(stored: StoredSource): KnownSource {
    const source = new KnownSource(stored, this.#context);
    this.#sources.set(stored.name, source);
    return source;
  }

  #takeOut(source: KnownSource): void {
    const now = this.#options.clock.now();
    source.end(`the source ${source.name} is no longer configured`);
    const causes = [{ kind: "settings" }, { kind: "source", name: source.name }] as const;
    const offered = this.#options.offer(source.name, undefined, { changedAt: now, causes });
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
    this.#options.allowed(name, []); // its limit is forgotten too
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
function namespacesOf(
  { name, namedBy }: { readonly name: string; readonly namedBy?: string | undefined },
  { receive, pull }: SourceRules,
): readonly string[] | undefined {
  if (isPulled(name)) return pull.find(({ url }) => url === name)?.namespaces;
  if (receive === undefined) return undefined;
  if (receive.from.length === 0) return [];
  return receive.from.find(({ source }) => fitsSource(source, name, namedBy))?.namespaces;
}

function keepOf(name: string, { receive }: SourceRules): number | undefined {
  return isPulled(name) ? undefined : receive?.keep;
}
