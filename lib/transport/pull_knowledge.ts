/**
 * What was learned of a server that is pulled from: which variant of ADS it speaks, and which types it
 * serves. Pure.
 *
 * Of each kind the newest version is asked for, as today's istiod does, and an older one only where a
 * server does not have that: it ends the stream at the type, or answers with nothing. A server that ends
 * the stream at a kind's last version is not asked for the kind. All is forgotten when the server was
 * away, since another may have come back; and a type that was refused is asked for again by the first
 * stream an hour later.
 *
 * @module
 */
import { type Kind, kindByTypeUrl, KINDS } from "../model/kind.ts";
import type { AdsType, AdsVariant } from "../protocol/ads_client.ts";
import type { StatusName } from "./push_stream.ts";

/** How a stream ended. */
export type StreamEnd =
  /** By the server, or by what is in between. */
  | {
    readonly kind: "ended";
    /** Absent: the connection broke. */
    readonly code?: StatusName;
    readonly reason: string;
    /** Whether any response came. */
    readonly answered: boolean;
    /** Types asked for and not answered. */
    readonly unanswered: readonly string[];
  }
  /** By us, since no response came for too long. */
  | { readonly kind: "silent"; readonly reason: string }
  /** By us, since the server pays no heed to what we said that we hold. */
  | { readonly kind: "unheeded"; readonly reason: string }
  /** By us, for whatever else. */
  | { readonly kind: "ours"; readonly reason: string };

/** How long a type that a server refused is not asked for. Milliseconds. */
const REFUSED_FOR = 3_600_000;

/** How a server says that it does not serve the delta variant, or cannot take what we hold. */
const NO_DELTA: ReadonlySet<StatusName> = new Set([
  "UNIMPLEMENTED",
  "INVALID_ARGUMENT",
  "UNKNOWN",
  "RESOURCE_EXHAUSTED",
]);

/** How a server says that it does not serve a type, where it names it. */
const NO_TYPE: ReadonlySet<StatusName> = new Set([
  "UNIMPLEMENTED",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "UNKNOWN",
]);

/** The same where it names none: the others are said by whatever serves no ADS at all. */
const NO_NAMED_TYPE: ReadonlySet<StatusName> = new Set(["INVALID_ARGUMENT", "NOT_FOUND"]);

/** After so many streams without any response it is not the types that a server refuses. */
const MOST_FRUITLESS = 12;

/** The knowledge of one server's address. */
export class PullKnowledge {
  #variant: AdsVariant = "delta";
  #oneByOne = false;
  /** Streams in a row without any response, though types were left out. */
  #fruitless = 0;
  /** Type URLs refused, and until when they are not asked for. */
  readonly #refused = new Map<string, number>();
  /** By kind, the type URL under which the server has something. */
  readonly #serves = new Map<Kind, string>();
  /** Type URLs asked for only since another version of the kind was empty. */
  readonly #extra = new Set<string>();
  /** Whether such are asked for. */
  #asksOthers = true;

  /** Which variant to speak. */
  get variant(): AdsVariant {
    return this.#variant;
  }

  /** Whether to ask for one type at a time, so that it is plain which the server ends the stream for. */
  get oneByOne(): boolean {
    return this.#oneByOne;
  }

  /** The types to ask for at this time (milliseconds): one of each kind that the server may serve. */
  types(now: number): AdsType[] {
    for (const [url, until] of this.#refused) if (until <= now) this.#refused.delete(url);
    return KINDS.flatMap((kind) => {
      const [typeUrl] = this.#order(kind);
      return typeUrl === undefined ? [] : [{ typeUrl }];
    });
  }

  /** The version of a kind to ask for after this one, which is empty; undefined: there is none. */
  after(typeUrl: string): string | undefined {
    const kind = kindByTypeUrl(typeUrl);
    if (kind === undefined || !this.#asksOthers) return undefined;
    const order = this.#order(kind);
    const next = order[order.indexOf(typeUrl) + 1];
    if (next !== undefined) this.#extra.add(next);
    return next;
  }

  /** The server has something under this type URL, so that the next stream asks for it. */
  serves(typeUrl: string): void {
    const kind = kindByTypeUrl(typeUrl);
    if (kind !== undefined) this.#serves.set(kind, typeUrl);
  }

  /**
   * Learns from the end of a stream. True where the next one will be another, so that it should be
   * tried soon; after that many a time there is nothing left to learn.
   */
  learn(end: StreamEnd, now: number): boolean {
    if (end.kind === "ours") return false;
    if (end.kind !== "ended") return this.#noDelta(end.kind);
    const { code, reason, answered, unanswered } = end;
    if (code === undefined || code === "UNAVAILABLE") {
      this.away();
      return false;
    }
    const named = unanswered.filter((url) => names(reason, url));
    if (NO_TYPE.has(code) && named.length > 0) return this.#refuse(named, now);
    if (!answered && NO_DELTA.has(code) && this.#variant === "delta") return this.#noDelta("ended");
    if (!NO_NAMED_TYPE.has(code) || unanswered.length === 0) return false;
    this.#fruitless = answered ? 0 : this.#fruitless + 1;
    if (this.#fruitless > MOST_FRUITLESS) {
      this.away();
      return false;
    }
    if (this.#oneByOne || unanswered.length === 1) return this.#refuse(unanswered.slice(-1), now);
    this.#oneByOne = true;
    return true;
  }

  /** Forgets everything: the server was away. */
  away(): void {
    this.#variant = "delta";
    this.#oneByOne = false;
    this.#fruitless = 0;
    this.#refused.clear();
    this.#serves.clear();
    this.#extra.clear();
    this.#asksOthers = true;
  }

  /** Type URLs of a kind in the order in which they are asked for. */
  #order(kind: Kind): string[] {
    const known = this.#serves.get(kind);
    const all = new Set([...known === undefined ? [] : [known], ...typeUrlsOf(kind)]);
    return [...all].filter((url) => !this.#refused.has(url));
  }

  #noDelta(why: StreamEnd["kind"]): boolean {
    if (this.#variant === "sotw") {
      if (why === "silent") this.away();
      return false;
    }
    this.#variant = "sotw";
    return true;
  }

  #refuse(urls: readonly string[], now: number): boolean {
    for (const url of urls) {
      this.#refused.set(url, now + REFUSED_FOR);
      // It would end a stream at each kind that it has nothing of.
      if (this.#extra.has(url)) this.#asksOthers = false;
    }
    return true;
  }
}

function typeUrlsOf({ group, versions, kind }: Kind): string[] {
  return versions.map((version) => `${group}/${version}/${kind}`);
}

/** Whether a text names this type URL, and not only one that begins alike. */
function names(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + 1)) {
    if (!/\w/.test(text.charAt(at + url.length))) return true;
  }
  return false;
}
