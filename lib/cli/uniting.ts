/**
 * How our own resources and those of other sources are put together in this process, and what there is
 * to say about it.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Finding } from "../model/finding.ts";
import type { MergeMode, ReceiveSettings } from "../model/settings.ts";
import { Origins } from "../receive/origins.ts";
import { Union } from "../receive/union.ts";
import type { Uniter } from "../rollout/parts.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { FindingLog } from "./finding_log.ts";

/** Puts resources together, once the publisher asks for it. Disposing it ends what waits to be said. */
export class Uniting implements Disposable {
  readonly #said: FindingLog;
  /** What was said before there was a union. */
  readonly #allowed = new Map<string, readonly string[]>();
  #union: Union | undefined;

  constructor(log: Log) {
    this.#said = new FindingLog(log, { category: "source" });
  }

  /** For the publisher, which asks once. What a stored snapshot served is served on in the same way. */
  readonly unite = (stored: Snapshot | undefined): Uniter => {
    const served = stored === undefined ? {} : { served: stored.collections };
    const union = new Union({ merge: mergeOf(stored?.settings.receive), ...served });
    for (const [part, namespaces] of this.#allowed) union.allow(part, namespaces);
    this.#allowed.clear();
    this.#union = union;
    const origins = new Origins(union);
    return {
      set: (part, collections) => union.set(part, collections),
      get collections() {
        return union.collections;
      },
      get origins() {
        return origins.now();
      },
    };
  };

  /**
   * Patterns of the namespaces that a part may fill from now on, be it there yet or not; empty: all. Returns
   * whether that changes what is served.
   */
  allow(part: string, namespaces: readonly string[]): boolean {
    const before = this.#union?.collections;
    if (this.#union === undefined) this.#allowed.set(part, namespaces);
    else this.#union.allow(part, namespaces);
    return this.#union?.collections !== before;
  }

  /** Every part that was stored is there. */
  settle(): void {
    this.#union?.settle();
  }

  /** Puts sources together as these settings say; whether that changes anything. */
  configure(receive: ReceiveSettings | undefined): boolean {
    const before = this.#union?.collections;
    this.#union?.setMerge(mergeOf(receive));
    return this.#union?.collections !== before;
  }

  /** Names and hosts that several sources claim. */
  findings(): readonly Finding[] {
    return this.#union?.findings() ?? [];
  }

  /** Says what is claimed twice, unless that was said before and still holds. */
  say(): void {
    this.#said.say(this.findings());
  }

  [Symbol.dispose](): void {
    this.#said[Symbol.dispose]();
  }
}

function mergeOf(receive: ReceiveSettings | undefined): MergeMode {
  return receive?.merge ?? "refuse";
}
