/**
 * Our own configuration as it is loaded: what is in effect of it, and what the guard holds back until
 * a person lets it pass. Settings are never held.
 *
 * @module
 */
import { type Cause, mergeCauses } from "../model/cause.ts";
import type { Settings } from "../model/settings.ts";
import { applyChanges } from "../snapshot/apply.ts";
import { emptySnapshot, type Snapshot } from "../snapshot/snapshot.ts";
import { guard, type Verdict } from "./guard.ts";
import type { HeldCandidate, Load, TakeOptions } from "./publishing.ts";

/** A change that is in effect and not published yet. */
export interface Due {
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  readonly causes: readonly Cause[];
}

/** What a load came to, and when and why it changed. */
interface Candidate extends Due {
  readonly snapshot: Snapshot;
}

interface Held extends HeldCandidate {
  readonly snapshot: Snapshot;
  readonly causes: readonly Cause[];
}

/** One step: a candidate was judged, or one that a person let pass was put into effect. */
export interface Step {
  readonly due: Due;
  /** What is in effect from now on; absent where that stays as it was. */
  readonly adopted?: Snapshot;
  readonly confirmed: boolean;
}

/** Told what is held and let go. Must not throw. */
export interface OwnPartHooks {
  held(id: string, verdict: Verdict): void;
  released(id: string, why: "confirmed" | "replaced"): void;
}

/** Two changes that go out as one. */
export function mergeDue(a: Due | undefined, { changedAt, causes }: Due): Due {
  return {
    changedAt: Math.min(changedAt, a?.changedAt ?? changedAt),
    causes: mergeCauses(a?.causes ?? [], causes),
  };
}

/** Our own configuration. Snapshots here hold nothing of other sources. */
export class OwnPart {
  readonly #now: () => number;
  readonly #hooks: OwnPartHooks;
  /** What all loads so far add up to, in effect or not. */
  #loaded: Snapshot | undefined;
  #inEffect: Snapshot | undefined;
  #settings: Settings | undefined;
  /** Newest of what is to be judged. */
  #candidate: Candidate | undefined;
  /** What a person let pass; goes before any candidate. */
  #confirmed: Candidate | undefined;
  #held: Held | undefined;

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number, hooks: OwnPartHooks) {
    this.#now = now;
    this.#hooks = hooks;
  }

  /** What is in effect, or will be as soon as it is saved; its settings may be older than {@link settings}. */
  get inEffect(): Snapshot | undefined {
    return this.#inEffect;
  }

  /** The newest settings. */
  get settings(): Settings | undefined {
    return this.#settings;
  }

  /** What waits for a person. */
  get held(): HeldCandidate | undefined {
    return this.#held;
  }

  /** Makes this what is in effect, unasked. */
  adopt(snapshot: Snapshot): void {
    this.#inEffect = snapshot;
    this.#settings = snapshot.settings;
  }

  /**
   * Takes a load, to be judged in the next {@link step}. Throws RangeError or TypeError on changes that
   * do not fit together, and is then as it was.
   */
  take({ settings, changes }: Load, { changedAt, full = false, causes = [] }: TakeOptions): void {
    const first = this.#loaded === undefined;
    const base = this.#loaded ?? this.#inEffect ?? emptySnapshot(settings!);
    const snapshot = applyChanges(base, changes, settings!, { full: full || first });
    this.#loaded = snapshot;
    const why: readonly Cause[] = first ? [{ kind: "start" }, ...causes] : causes;
    this.#candidate = { snapshot, ...mergeDue(this.#candidate, { changedAt, causes: why }) };
  }

  /** Lets what is held under this id pass; false where nothing is. */
  confirm(id: string): boolean {
    const held = this.#held;
    if (held?.id !== id) return false;
    const { snapshot } = held;
    // Its latency counts from here: what came before was a person's time.
    const causes = mergeCauses(held.causes, [{ kind: "confirmed", id }]);
    this.#confirmed = { snapshot, changedAt: this.#now(), causes };
    this.#release("confirmed");
    return true;
  }

  /** Puts into effect, or holds, what comes next; undefined where nothing does. */
  step(): Step | undefined {
    const confirmed = this.#confirmed;
    this.#confirmed = undefined;
    const next = confirmed ?? this.#candidate;
    if (next === undefined) return undefined;
    if (confirmed === undefined) this.#candidate = undefined;
    const { snapshot, changedAt, causes } = next;
    const step = { due: { changedAt, causes }, confirmed: confirmed !== undefined };
    if (confirmed === undefined && !this.#judge(next)) return step;
    this.adopt(snapshot);
    return { ...step, adopted: snapshot };
  }

  /** Whether a candidate may take effect; if only the guard is against it, it is held, but for its settings. */
  #judge({ snapshot, causes }: Candidate): boolean {
    if (snapshot.id === this.#held?.id) return false;
    this.#release("replaced");
    const verdict = guard(this.#inEffect, snapshot);
    if (!verdict.pass) {
      this.#settings = snapshot.settings;
      this.#hold(snapshot, verdict, causes);
    }
    return verdict.pass;
  }

  #hold(snapshot: Snapshot, verdict: Verdict, causes: readonly Cause[]): void {
    const { id } = snapshot;
    const message = `the snapshot ${id} would remove ${verdict.removed} of ${verdict.of} ` +
      `resources, more than push.guard (${verdict.limit}) lets pass; if that is meant, ` +
      `run: pinnace snapshots confirm ${id}`;
    this.#held = { id, snapshot, verdict, since: this.#now(), message, causes };
    this.#hooks.held(id, verdict);
  }

  #release(why: "confirmed" | "replaced"): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#hooks.released(held.id, why);
  }
}
