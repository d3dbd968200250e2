/**
 * What two servers answered to one transcript, compared.
 *
 * @module
 */
import { xdsTypeByUrl } from "../../../lib/model/xds_type.ts";
import type { WireResponse } from "./control_planes.ts";
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
  const shownOurs = new Shower(mode);
  const shownTheirs = new Shower(mode);
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
    if (`${common(order)}` !== `${common({ ours: order.theirs, theirs: order.ours })}`) {
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
 * Shows responses without what is a server's own: versions become numbers, in the order in which they
 * were first seen, of the type (state of the world) or of each resource (delta).
 */
class Shower {
  readonly #mode: "sotw" | "delta";
  readonly #numbers = new Map<string, Map<string, number>>();

  constructor(mode: "sotw" | "delta") {
    this.#mode = mode;
  }

  all({ responses }: Phase, type: string): string[] {
    return responses.filter((response) => response.type === type).map((r) => this.#one(r));
  }

  #one({ type, version, resources, removed }: WireResponse): string {
    const delta = this.#mode === "delta";
    const names = resources.map((resource) => {
      const other = resource.anyType === type ? "" : ` as ${shortOf(resource.anyType)}`;
      const own = delta ? `@${this.#number(`${type} ${resource.name}`, resource.version)}` : "";
      return `${resource.name}${own}${other}`;
    });
    return [
      delta ? "" : `@${this.#number(type, version)}:`,
      ...names.sort(),
      ...[...removed].sort().map((name) => `-${name}`),
    ].filter((part) => part !== "").join(" ") || "nothing";
  }

  #number(of: string, version: string): number {
    const numbers = this.#numbers.get(of) ?? new Map<string, number>();
    this.#numbers.set(of, numbers);
    const number = numbers.get(version) ?? numbers.size + 1;
    numbers.set(version, number);
    return number;
  }
}
