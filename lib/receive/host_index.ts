/**
 * Who names which host, who of them leads, and who reaches beyond its namespaces by that.
 *
 * @module
 */
import type { Contender } from "./contender.ts";
import type { Limits } from "./limits.ts";
import type { Part } from "./offer.ts";

/** The entries of one part that name one host. */
export class Share {
  readonly leaders: Set<Contender> = new Set();
  readonly followers: Set<Contender> = new Set();
  /** How many of these are in namespaces that another part may not fill; for each limited one of this host, unless 0. */
  readonly outside: Map<Part, number> = new Map();

  /** All of them. */
  *members(): Iterable<Contender> {
    yield* this.leaders;
    yield* this.followers;
  }
}

/** Everyone who names a host. */
export type Sharers = ReadonlyMap<Part, Share>;

/** Contenders by their hosts. Who is put in leads nothing until told to. */
export class HostIndex {
  readonly #limits: Limits;
  /** Most hosts are named once. */
  readonly #byHost = new Map<string, Contender | Map<Part, Share>>();
  readonly #leaders = new Set<Contender>();
  readonly #touched = new Set<Share>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Forgets everyone. */
  clear(): void {
    for (const each of [this.#byHost, this.#leaders, this.#touched]) each.clear();
  }

  /** Puts a contender in. */
  add(contender: Contender, leads = false): void {
    if (leads) this.#leaders.add(contender);
    for (const host of contender.hosts) {
      const at = this.#byHost.get(host);
      if (at === undefined) this.#byHost.set(host, contender);
      else if (at instanceof Map) this.#join(at, contender);
      else {
        const sharers = new Map<Part, Share>();
        this.#byHost.set(host, sharers);
        this.#join(sharers, at);
        this.#join(sharers, contender);
      }
    }
  }

  /** Takes a contender out. */
  delete(contender: Contender): void {
    this.#leaders.delete(contender);
    for (const host of contender.hosts) {
      const at = this.#byHost.get(host);
      if (at instanceof Map) this.#leave(at, contender);
      if (at === contender || (at instanceof Map && at.size === 0)) this.#byHost.delete(host);
    }
  }

  /** Whether it has its hosts. */
  leads(contender: Contender): boolean {
    return this.#leaders.has(contender);
  }

  /** Says whether it has its hosts. */
  lead(contender: Contender, leads: boolean): void {
    if (leads === this.leads(contender)) return;
    if (leads) this.#leaders.add(contender);
    else this.#leaders.delete(contender);
    for (const host of contender.hosts) {
      const share = this.sharers(host)?.get(contender.part);
      if (share === undefined) continue;
      const [from, to] = leads
        ? [share.followers, share.leaders]
        : [share.leaders, share.followers];
      from.delete(contender);
      to.add(contender);
    }
  }

  /** Who names a host, where that is more than one. */
  sharers(host: string): Sharers | undefined {
    const at = this.#byHost.get(host);
    return at instanceof Map ? at : undefined;
  }

  /** Whether several parts name it. */
  isContested(host: string): boolean {
    return (this.sharers(host)?.size ?? 0) > 1;
  }

  /** Someone of another part who has one of the contender's hosts. */
  holder({ hosts, part }: Contender): { host: string; leader: Contender } | undefined {
    for (const host of hosts) {
      for (const [other, { leaders }] of this.sharers(host) ?? []) {
        const [leader] = other === part ? [] : leaders;
        if (leader !== undefined) return { host, leader };
      }
    }
    return undefined;
  }

  /**
   * Whether it wants a host of an entry in a namespace that its own part may not fill, while that entry's
   * part may fill the namespace of this one.
   */
  overreaches({ hosts, part, namespace }: Contender): boolean {
    if (!this.#limits.isLimited(part.name)) return false;
    return hosts.some((host) => {
      for (const [other, { outside }] of this.sharers(host) ?? []) {
        if (outside.has(part) && this.#limits.mayFill(other.name, namespace)) return true;
      }
      return false;
    });
  }

  /** These, who names these hosts, and who shares a contested host with one of them, and so on. */
  field(contenders: Iterable<Contender>, hosts: Iterable<string>): ReadonlySet<Contender> {
    const field = new Set(contenders);
    const done = new Set<string>();
    const addSharers = (host: string) => {
      if (done.has(host)) return;
      done.add(host);
      for (const share of this.sharers(host)?.values() ?? []) {
        for (const contender of share.members()) field.add(contender);
      }
    };
    for (const host of hosts) addSharers(host);
    // What is added to a set while it is gone through is gone through as well.
    for (const { hosts } of field) {
      for (const host of hosts) if (this.isContested(host)) addSharers(host);
    }
    return field;
  }

  /** Shares of which some may overreach, or no longer, since this was asked last. */
  takeTouched(): readonly Share[] {
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /** Counts anew what is outside of the namespaces of the contender's part, which have changed. */
  relimit({ hosts, part }: Contender): void {
    for (const host of hosts) {
      const sharers = this.sharers(host);
      for (const [other, share] of sharers ?? []) {
        this.#touched.add(share);
        if (other !== part) this.#count(share, part);
      }
    }
  }

  #join(sharers: Map<Part, Share>, contender: Contender): void {
    const { part, namespace } = contender;
    let share = sharers.get(part);
    if (share === undefined) {
      for (const other of sharers.values()) this.#count(other, part);
      sharers.set(part, share = new Share());
    }
    (this.leads(contender) ? share.leaders : share.followers).add(contender);
    for (const [other, theirs] of sharers) {
      if (other === part || this.#limits.mayFill(other.name, namespace)) continue;
      const before = share.outside.get(other) ?? 0;
      share.outside.set(other, before + 1);
      if (before === 0) this.#touched.add(theirs);
    }
  }

  #leave(sharers: Map<Part, Share>, contender: Contender): void {
    const { part, namespace } = contender;
    const share = sharers.get(part)!;
    share.leaders.delete(contender);
    share.followers.delete(contender);
    for (const [other, count] of share.outside) {
      if (this.#limits.mayFill(other.name, namespace)) continue;
      if (count > 1) share.outside.set(other, count - 1);
      else {
        share.outside.delete(other);
        this.#touched.add(sharers.get(other)!);
      }
    }
    if (share.leaders.size + share.followers.size > 0) return;
    sharers.delete(part);
    for (const other of sharers.values()) other.outside.delete(part);
  }

  #count(share: Share, part: Part): void {
    share.outside.delete(part);
    if (!this.#limits.isLimited(part.name)) return;
    let count = 0;
    for (const { namespace } of share.members()) {
      if (!this.#limits.mayFill(part.name, namespace)) count++;
    }
    if (count > 0) share.outside.set(part, count);
  }
}
