/**
 * Client views at work: made by recipes, with addresses that are looked up for them, and what there is
 * to say of them said.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Finding } from "../model/finding.ts";
import { systemClock } from "../rollout/clock.ts";
import { AddressBook, type NameStatus } from "../transport/address_book.ts";
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
  /** Names that are wanted and beyond what is looked up. */
  #leftOut = 0;

  constructor({ log, onChange }: ViewingOptions) {
    this.#findings = new FindingLog(log, { category: "view" });
    this.#book = new AddressBook({
      resolve: (host) => systemLookUps.find(host),
      clock: systemClock,
      random: Math.random,
      onChange,
      onTried: onChange,
      onFailure: () => this.#findings.say(this.findings()),
    });
    this.views = new ClientViews({
      makers: VIEW_MAKERS,
      addresses: this.#book,
      onWanted: () => this.#want(),
      onMade: () => this.#made(),
      onReady: onChange,
      slices: systemSlices(),
    });
  }

  /** What is to be said of the views that clients have. */
  findings(): readonly Finding[] {
    const ofViews = [...this.views.findings()].flatMap(([kind, found]) => ofKind(kind, found));
    return [...ofViews, ...ofNames(this.#book.failing(), this.#leftOut)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#findings[Symbol.dispose]();
    await this.#book[Symbol.asyncDispose]();
  }

  #want(): void {
    this.#leftOut = this.#book.want(this.views.lookUps());
  }

  #made(): void {
    this.#want();
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

/** What is to be said of names that are looked up for clients that cannot do so. */
function ofNames(
  failing: readonly (readonly [host: string, status: NameStatus])[],
  leftOut: number,
): Finding[] {
  const unfound = failing.slice(0, SHOWN).map(([host, { addresses, failure }]): Finding => ({
    severity: "warning",
    rule: "view/name-not-found",
    message: `the name ${host} of an endpoint is not found: ${failure}`,
    hint: addresses === undefined
      ? "clients that cannot look names up do not get the endpoint until it is"
      : "clients that cannot look names up go on with the addresses that it had",
  }));
  if (leftOut === 0) return unfound;
  return [...unfound, {
    severity: "warning",
    rule: "view/too-many-names",
    message: `${leftOut} names of endpoints are not looked up, since there are too many`,
    hint: "give IP addresses, or spread the services over several Pinnaces",
  }];
}
