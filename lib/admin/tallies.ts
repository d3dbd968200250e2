/**
 * Counts in plain numbers: what happens once for each of thousands of streams must cost next to
 * nothing. Whatever peers choose (node ids, types) is bounded in number and length.
 *
 * @module
 */
import { type Kind, KINDS, MESH_CONFIG_TYPE_URL, TRIGGER_COLLECTION } from "../model/kind.ts";
import type { Labels, Reading } from "./meters.ts";

/** What is counted under when there are too many names. */
const OTHER = "other";

/** Longest label that a peer can choose. UTF-16 code units. */
const LONGEST = 200;

/** Types besides those in the table of kinds that are counted apart, over all protocols. */
const FURTHER_TYPES = 100;

/** A name that others chose, as a label. */
export function labelOf(name: string): string {
  return name.slice(0, LONGEST);
}

/** How a {@link Tally} is made. */
export interface TallyOptions {
  /** Names of which at least 0 is shown, so that the first one counts as an increase. */
  readonly known?: readonly string[];
  /** Names that are counted apart; whatever comes later is counted as `other`. */
  readonly max: number;
}

/** Counts by one label. */
export class Tally {
  readonly #label: string;
  readonly #max: number;
  readonly #counts = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(label: string, { known = [], max }: TallyOptions) {
    this.#label = label;
    this.#max = max;
    for (const name of known) this.add(name, 0);
  }

  /** Counts one, or `by`. */
  add(name: string, by = 1): void {
    const count = this.#counts.get(name) ?? this.#make(name);
    count.value += by;
  }

  /** Every count. */
  readings(): readonly Reading[] {
    return [...this.#counts.values()];
  }

  #make(name: string) {
    const cut = labelOf(name);
    const key = this.#counts.has(cut) || this.#counts.size < this.#max ? cut : OTHER;
    const count = this.#counts.get(key) ?? { labels: { [this.#label]: key }, value: 0 };
    this.#counts.set(key, count);
    return count;
  }
}

/** What is counted of pushes of one type under one protocol. */
export interface TypeCounts {
  readonly labels: Labels;
  pushes: number;
  bytes: number;
  acks: number;
  nacks: number;
}

/** Names under which a kind is asked for, by protocol. */
const PROTOCOLS: Readonly<Record<string, (kind: Kind) => readonly string[]>> = {
  "ads": typeUrls,
  "ads-delta": typeUrls,
  "mcp-source": ({ collection }) => [collection],
  "mcp-sink": ({ collection }) => [collection],
  "mesh-config": messageUrls,
  "mesh-config-incremental": messageUrls,
};

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...KINDS.flatMap((kind) => [kind.collection, ...typeUrls(kind), ...messageUrls(kind)]),
  MESH_CONFIG_TYPE_URL,
  TRIGGER_COLLECTION,
]);

/** Counts pushes and their answers by protocol and type. */
export class TypeTallies {
  readonly #byProtocol = new Map<string, Map<string, TypeCounts>>();
  #further = 0;

  /** The counts of this pair: always the same object, which its caller adds to. */
  of(protocol: string, type: string): TypeCounts {
    return this.#byProtocol.get(protocol)?.get(type) ?? this.#make(protocol, type);
  }

  /** Shows at least 0 for everything that a kind can be asked for as. */
  know({ kind }: Pick<Kind, "kind">): void {
    const known = KINDS.find((one) => one.kind === kind);
    if (known === undefined) return;
    for (const [protocol, types] of Object.entries(PROTOCOLS)) {
      for (const type of types(known)) this.of(protocol, type);
    }
  }

  /** One of the counts, for every pair. */
  readings(count: "pushes" | "bytes" | "acks" | "nacks"): readonly Reading[] {
    return [...this.#byProtocol.values()].flatMap((byType) =>
      [...byType.values()].map((counts) => ({ value: counts[count], labels: counts.labels }))
    );
  }

  #make(protocol: string, type: string): TypeCounts {
    const byType = this.#byProtocol.get(protocol) ?? new Map<string, TypeCounts>();
    this.#byProtocol.set(protocol, byType);
    const isKnown = KNOWN_TYPES.has(type);
    const isApart = isKnown || (type.length <= LONGEST && this.#further < FURTHER_TYPES);
    if (isApart && !isKnown) this.#further++;
    const key = isApart ? type : OTHER;
    const labels = { protocol, type: key };
    const counts = byType.get(key) ?? { labels, pushes: 0, bytes: 0, acks: 0, nacks: 0 };
    byType.set(key, counts);
    return counts;
  }
}

function typeUrls({ group, versions, kind }: Kind): readonly string[] {
  return versions.map((version) => `${group}/${version}/${kind}`);
}

function messageUrls({ message }: Kind): readonly string[] {
  return [`type.googleapis.com/${message}`];
}
