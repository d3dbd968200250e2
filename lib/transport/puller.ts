/**
 * Pulling: any number of servers of MCP over xDS, a stream to each. No server waits for another.
 *
 * @module
 */
import { type PullContext, PullLink, type PullStatus, type PullTarget } from "./pull_link.ts";
import { sameTarget } from "./same_target.ts";

/** Pulls from every server it is told of. Disposing it ends all streams; what was pulled stays with the registry. */
export class Pulls implements AsyncDisposable {
  readonly #context: PullContext;
  readonly #links = new Map<string, PullLink>();
  readonly #closing = new Set<Promise<void>>();

  constructor(context: PullContext) {
    this.#context = context;
  }

  /** Makes these the servers: new ones are dialled, those gone are ended, changed ones are dialled anew; the rest is left alone. */
  configure(targets: readonly PullTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.url, target]));
    for (const [url, link] of this.#links) {
      const target = wanted.get(url);
      if (target !== undefined && sameTarget(target, link.target)) continue;
      this.#links.delete(url);
      this.#close(link);
    }
    for (const [url, target] of wanted) {
      if (!this.#links.has(url)) this.#links.set(url, new PullLink(target, this.#context));
    }
  }

  /** Where each server stands. */
  status(): PullStatus[] {
    return [...this.#links.values()].map((link) => link.status());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.configure([]);
    await Promise.all(this.#closing);
  }

  #close(link: PullLink): void {
    const closing = link[Symbol.asyncDispose]().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
