/**
 * What two servers answered to one transcript, compared.
 *
 * @module
 */
import { xdsTypeByUrl } from "../../../lib/model/xds_type.ts";
import type { WireResource, WireResponse } from "./control_planes.ts";
import type { Phase } from "./player.ts";

/** A difference between the answers of two servers in one phase. */
export type Difference =
  & {
    /** Client and mode. */
    readonly transcript: string;
    readonly mode: "sotw" | "delta";
    /** Which phase. */
    readonly phase: string;
  }
  & (
    /** One type was answered otherwise; see {@link shown}. */
    | {
      readonly kind: "answers";
      /** Last part of the type URL. */
      readonly type: string;
      readonly ours: readonly string[];
      readonly theirs: readonly string[];
    }
    /** After a change the types came in another order. */
    | {
      readonly kind: "order";
      readonly ours: readonly string[];
      readonly theirs: readonly string[];
    }
    /** A stream ended. */
    | { readonly kind: "end"; readonly ours: string; readonly theirs: string }
  );

/** What is compared. */
export interface Comparison {
  readonly transcript: string;
  readonly mode: "sotw" | "delta";
  readonly ours: readonly Phase[];
  readonly theirs: readonly Phase[];
}

/** Every difference. */
export function differences({ transcript, mode, ours, theirs }: Comparison): Difference[] {
  const place = (phase: string) => ({ transcript, mode, phase });
  const found: Difference[] = [];
  const shownOurs = new Shower();
  const shownTheirs = new Shower();
  for (const [index, our] of ours.entries()) {
    const their = theirs[index]!;
    const types = [...our.responses, ...their.responses].map(({ type }) => type);
    for (const type of new Set(types)) {
      const answers = { ours: shownOurs.all(our, type), theirs: shownTheirs.all(their, type) };
      if (`${answers.ours}` === `${answers.theirs}`) continue;
      found.push({ ...place(our.label), kind: "answers", type: shortOf(type), ...answers });
    }
    const order = { ours: firstOf(our), theirs: firstOf(their) };
    const common = ({ ours, theirs }: typeof order) => ours.filter((type) => theirs.includes(type));
    // What a new stream asks for comes when it asks, sooner or later.
    const isChange = our.label.includes(", ");
    if (
      isChange && `${common(order)}` !== `${common({ ours: order.theirs, theirs: order.ours })}`
    ) {
      found.push({ ...place(our.label), kind: "order", ...order });
    }
    if (our.ended !== their.ended) {
      const end = { ours: our.ended ?? "goes on", theirs: their.ended ?? "goes on" };
      found.push({ ...place(our.label), kind: "end", ...end });
    }
  }
  return found;
}

/** Last part of a type URL. */
export function shortOf(typeUrl: string): string {
  return typeUrl.slice(Math.max(typeUrl.lastIndexOf("."), typeUrl.lastIndexOf("/")) + 1);
}

/** The xDS types of a phase, in the order in which they came first. Of Istio's kinds, which need none, there is none. */
function firstOf({ responses }: Phase): string[] {
  const types = responses.filter(({ type }) => xdsTypeByUrl(type) !== undefined);
  return [...new Set(types.map(({ type }) => shortOf(type)))];
}

/**
 * Shows the responses of one server without what is its own: for versions, and for contents, which two
 * do not write alike, those of each resource are numbered as they were first seen.
 */
class Shower {
  readonly #contents = new Map<string, string[]>();

  all({ responses }: Phase, type: string): string[] {
    return responses.filter((response) => response.type === type).map((r) => this.#one(r));
  }

  #one({ type, resources, removed }: WireResponse): string {
    const names = resources.map((resource) => {
      const other = resource.anyType === type ? "" : ` as ${shortOf(resource.anyType)}`;
      return `${resource.name}@${this.#number(type, resource)}${other}`;
    });
    return [...names.sort(), ...[...removed].sort().map((name) => `-${name}`)].join(" ") ||
      "nothing";
  }

  #number(type: string, { name, bytes }: WireResource): number {
    const key = `${type} ${name}`;
    const seen = this.#contents.get(key) ?? [];
    this.#contents.set(key, seen);
    if (!seen.includes(bytes)) seen.push(bytes);
    return seen.indexOf(bytes) + 1;
  }
}
