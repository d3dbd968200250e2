/**
 * Client views at work: made by recipes, with addresses that are looked up for them, and what there is
 * to say of them said.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Finding } from "../model/finding.ts";
import { systemClock } from "../rollout/clock.ts";
import { AddressBook } from "../transport/address_book.ts";
import { systemLookUps } from "../transport/shared_look_ups.ts";
import { ClientViews, type ViewKind } from "../view/client_views.ts";

import type { ViewFinding } from "../view/recipe.ts";
import { systemSlices } from "../view/slices.ts";
import { FindingLog } from "./finding_log.ts";
import { CLIENT_NAMES, VIEW_MAKERS } from "./view_makers.ts";

/** Findings of one kind of client that are shown; of more, how many there are. */
const SHOWN = 100;

/** Options of {@link Viewing}. */
export interface ViewingOptions {
  readonly log: Log;
  /** Views are to be asked for again: one is ready, or addresses of names changed. */
  readonly onChange: () => void;
}

/** Makes client views as long as it lives. Disposing it ends all look-ups. */
export class Viewing implements AsyncDisposable {
  readonly views: ClientViews;
  readonly #book: AddressBook;
  readonly #findings: FindingLog;

  constructor({ log, onChange }: ViewingOptions) {
    this.#findings = new FindingLog(log, { category: "view" });
    this.#book = new AddressBook({
      resolve: (host) => systemLookUps.find(host),
      clock: systemClock,
      random: Math.random,
      onChange,
    });
    this.views = new ClientViews({
      makers: VIEW_MAKERS,
      addresses: this.#book,
      onMade: () => this.#made(),
      onReady: onChange,
      slices: systemSlices(),
    });
  }

  /** What is to be said of the views that clients have. */
  findings(): readonly Finding[] {
    return [...this.views.findings()].flatMap(([kind, found]) => ofKind(kind, found));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#findings[Symbol.dispose]();
    await this.#book[Symbol.asyncDispose]();
  }

  #made(): void {
    this.#book.want(this.views.lookUps());
    this.#findings.say(this.findings());
  }
}

function ofKind(kind: ViewKind, found: readonly ViewFinding[]): Finding[] {
  const all = found.map(({ key, rule, message }): Finding => ({
    severity: "warning",
    rule,
    subject: key,
    message: `for ${CLIENT_NAMES[kind]}: ${message}`,
  }));
  if (all.length <= SHOWN) return all;
  const rest = {
    severity: "warning",
    rule: "view/more",
    message: `for ${CLIENT_NAMES[kind]}: ${all.length - SHOWN} findings more`,
    hint: `\`pinnace render --as ${kind}\` shows all`,
  } as const;
  return [...all.slice(0, SHOWN), rest];
}
