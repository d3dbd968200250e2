/**
 * Decides who has which hosts after a change: the strongest claim first, and only where the change
 * reaches.
 *
 * @module
 */
import type { Contender } from "./contender.ts";
import type { HostIndex, Share } from "./host_index.ts";
import { compareOffers, type Part } from "./offer.ts";
import { SortedQueue } from "./sorted_queue.ts";

/**
 * One decision. Who meets no stronger leader of another part leads. That is worked out for those added
 * and for whom that frees or takes a host, each once: whoever is stronger has been decided before.
 */
export class HostRanking {
  readonly #index: HostIndex;
  readonly #strengthOf: (contender: Contender) => number;
  readonly #strengths = new Map<Contender, number>();
  readonly #added = new Set<Contender>();
  readonly #queue: SortedQueue<Contender>;
  /** Whose followers have all been added. */
  readonly #spread = new Set<Share>();
  /** Of whom it was said anew whether they lead. */
  readonly changed = new Set<Contender>();
  #batch: Contender[] = [];

  /** `strengthOf`: the least goes first; asked once for each contender, before it is decided. */
  constructor(index: HostIndex, strengthOf: (contender: Contender) => number) {
    this.#index = index;
    this.#strengthOf = strengthOf;
    this.#queue = new SortedQueue((a, b) => this.#compare(a, b));
  }

  /** Someone is to be decided. */
  add(contender: Contender): void {
    if (this.#added.has(contender)) return;
    this.#added.add(contender);
    this.#batch.push(contender);
  }

  /** One of this part has these hosts no longer, or no longer as safely: those who want them are to be decided. */
  release({ part, hosts }: { readonly part: Part; readonly hosts: readonly string[] }): void {
    for (const host of hosts) {
      for (const [other, share] of this.#index.sharers(host) ?? []) {
        if (other === part || this.#spread.has(share)) continue;
        this.#spread.add(share);
        for (const follower of share.followers) this.add(follower);
      }
    }
  }

  /** Decides. */
  run(): void {
    while (true) {
      for (const contender of this.#batch) this.#strength(contender);
      this.#queue.push(this.#batch);
      this.#batch = [];
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#decide(next);
    }
  }

  #decide(contender: Contender): void {
    const weaker = this.#weakerHolders(contender);
    if (weaker === undefined) return this.#lead(contender, false);
    this.#lead(contender, true);
    for (const other of weaker) this.#lead(other, false);
  }

  #lead(contender: Contender, leads: boolean): void {
    if (this.#index.leads(contender) === leads) return;
    this.#index.lead(contender, leads);
    this.changed.add(contender);
    if (!leads) this.release(contender);
  }

  /** Those of other parts who lead with one of its hosts; undefined where one of them is stronger. */
  #weakerHolders(contender: Contender): Iterable<Contender> | undefined {
    const weaker = new Set<Contender>();
    for (const host of contender.hosts) {
      for (const [part, { leaders }] of this.#index.sharers(host) ?? []) {
        if (part === contender.part) continue;
        for (const leader of leaders) {
          if (this.#compare(leader, contender) < 0) return undefined;
          weaker.add(leader);
        }
      }
    }
    return weaker;
  }

  #compare(a: Contender, b: Contender): number {
    return this.#strength(a) - this.#strength(b) || compareOffers(a, b);
  }

  #strength(contender: Contender): number {
    let strength = this.#strengths.get(contender);
    if (strength === undefined) {
      this.#strengths.set(contender, strength = this.#strengthOf(contender));
    }
    return strength;
  }
}
