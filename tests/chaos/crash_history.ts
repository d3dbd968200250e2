/**
 * What was written, seen and ACKed over all lives of a program that is killed again and again, and what
 * of it broke a promise.
 *
 * @module
 */
import type { Held } from "./ads_client.ts";

/** A service as it is written in the configuration. */
export type ServiceConfig = Readonly<Record<string, unknown>>;

/** Services of a revision: their number changes with it, so that a mixture of two is seen. */
function serviceCount(revision: number): number {
  return 20 + revision % 5;
}

/** The services of a configuration of this revision. */
export function servicesOf(revision: number): readonly ServiceConfig[] {
  return Array.from({ length: serviceCount(revision) }, (_, i) => ({
    name: `service-${i}`,
    ports: ["80:8080/HTTP"],
    endpoints: [{ address: `192.0.2.${i + 1}`, labels: { revision: `r${revision}` } }],
  }));
}

/** The revision that exactly this content is; undefined where it is none. */
function revisionOf(held: Held): number | undefined {
  const label = held.get("default/service-0");
  const revision = Number(label?.slice(1));
  if (label === undefined || !Number.isSafeInteger(revision)) return undefined;
  const names = Array.from({ length: serviceCount(revision) }, (_, i) => `default/service-${i}`);
  const isWhole = held.size === names.length && names.every((name) => held.get(name) === label);
  return isWhole ? revision : undefined;
}

/** Judges every push against all that came before. */
export class History {
  /** Newest revision written to the configuration. */
  written = 0;
  /** Newest revision that the peer ACKed, in any life. */
  acked = -1;
  /** ACKs over all lives. */
  acks = 0;
  /** Newest revision seen in this life. */
  seen: number | undefined;
  readonly violations: string[] = [];
  /** Lives whose first push was newer than the last ACK: saved, not yet ACKed. */
  ahead = 0;

  /** Another life begins. */
  begin(): void {
    this.seen = undefined;
  }

  /** Takes a push; `life` names the life in what is said of it. */
  push(held: Held, life: string): void {
    const revision = revisionOf(held);
    if (revision === undefined || revision > this.written) {
      const labels = [...new Set(held.values())].slice(0, 5);
      this.#violation(`${life}: ${held.size} resources of ${labels} were never configured`);
      return;
    }
    if (this.seen === undefined) {
      if (revision < this.acked) {
        this.#violation(`${life}: began with r${revision}, older than r${this.acked}, ACKed`);
      }
      if (revision > this.acked) this.ahead++;
    } else if (revision < this.seen) {
      this.#violation(`${life}: went back from r${this.seen} to r${revision}`);
    }
    this.seen = revision;
  }

  /** The last push was ACKed. */
  ack(): void {
    this.acks++;
    this.acked = Math.max(this.acked, this.seen ?? -1);
  }

  #violation(what: string): void {
    this.violations.push(what);
  }
}
