/**
 * The differences between go-control-plane's answers and ours that are meant. docs/differences.md
 * argues each under its name.
 *
 * @module
 */
import { XDS_TYPES, type XdsTypeName } from "../../../lib/model/xds_type.ts";
import type { Difference } from "./differences.ts";

/** A difference that is meant. */
export interface Known {
  /** Heading in docs/differences.md. */
  readonly name: string;
  /** Whether a difference is of this kind. */
  readonly fits: (difference: Difference) => boolean;
}

/** A difference between answers of one type. */
type Answers = Extract<Difference, { kind: "answers" }>;

/** Every one. */
export const KNOWN: readonly Known[] = [
  {
    name: "Istio's resources are Resources",
    fits: answers(({ ours, theirs }) =>
      same(ours.map((shown) => shown.replaceAll(" as Resource", "")), theirs)
    ),
  },
  {
    name: "Types come in their order, endpoints before routes",
    fits: order(({ ours, theirs }) => inOrder(ours) && !inOrder(theirs)),
  },
  {
    name: "What is old goes last",
    fits: order(({ phase, ours }) =>
      /, (split ended|service (of gRPC )?removed)$/.test(phase) &&
      same(ours.toSorted(byAge), ours) && !inOrder(ours)
    ),
  },
  {
    name: "What a client held goes last when it comes back",
    fits: answers(({ mode, phase, type, ours, theirs }) =>
      mode === "delta" && phase === "stream 3" && type === "Cluster" && ours.length === 2 &&
      words(ours[1]!).every((word) => word.startsWith("-")) &&
      same(ours.flatMap(words), theirs.flatMap(words))
    ),
  },
  {
    name: "What was refused is not taken back",
    fits: answers(({ phase, type, ours, theirs }) =>
      phase.endsWith(", no longer refused") && type === "Listener" &&
      ours.length === 0 && theirs.length === 1
    ),
  },
  {
    name: "Endpoints follow a changed cluster",
    fits: answers(({ phase, type, ours, theirs }) =>
      phase.endsWith(", cluster changed") && type === "ClusterLoadAssignment" &&
      ours.length === 1 && theirs.length === 0
    ),
  },
  {
    name: "What a new stream asks for by name is sent",
    fits: answers(({ mode, phase, type, ours, theirs }) =>
      mode === "delta" && /^stream [23]$/.test(phase) && isNamed(type) &&
      theirs.flatMap(words).every((word) => ours.flatMap(words).includes(word))
    ),
  },
  {
    name: "What was refused is not sent again",
    fits: answers(({ phase, type, ours, theirs }) =>
      phase.endsWith(", refused by an Envoy") && type === "Listener" &&
      ours.length === 1 && theirs.length > 1 && same(ours, distinct(theirs))
    ),
  },
  {
    name: "What is still named is not taken away at once",
    fits: answers(({ transcript, phase, type, ours, theirs }) =>
      /^(grpc|dubbo)/.test(transcript) && /, service of gRPC (removed|back)$/.test(phase) &&
      ["Cluster", "ClusterLoadAssignment"].includes(type) &&
      ours.length === 0 && distinct(theirs).length === 1
    ),
  },
  {
    name: "What is gone is not told where no answer says so",
    fits: answers(({ mode, phase, type, ours, theirs }) =>
      mode === "sotw" && isNamed(type) && ours.length === 0 && distinct(theirs).length === 1 &&
      /, (split ended|service removed|no longer refused|service of gRPC removed)$/.test(phase)
    ),
  },
  {
    // Unsubscribed in the phase before; what comes unasked comes in whatever order.
    name: "Who names nothing any more gets nothing",
    fits: (difference) =>
      /^grpc-(java|node)-sotw$/.test(difference.transcript) &&
      difference.phase.endsWith(", service of gRPC back") &&
      (difference.kind === "order" ||
        (difference.kind === "answers" && difference.theirs.length > difference.ours.length &&
          difference.ours.every((shown) => difference.theirs.includes(shown)))),
  },
  {
    name: "Who gives names up gets no answer",
    fits: answers(({ mode, phase, ours, theirs }) =>
      mode === "sotw" && /, service of gRPC (removed|back)$/.test(phase) &&
      theirs.length > ours.length && same(ours, distinct(theirs))
    ),
  },
  {
    name: "Answers are not held back until everything is named",
    fits: answers(({ mode, phase, type, ours, theirs }) =>
      mode === "sotw" && phase === "stream 3" && type === "ClusterLoadAssignment" &&
      ours.length === 2 && same(ours.slice(1), theirs)
    ),
  },
  {
    name: "Routes of Dubbo are numbered",
    fits: answers(({ transcript, type, ours, theirs }) =>
      transcript.startsWith("dubbo") && type === "RouteConfiguration" &&
      [...ours, ...theirs].every((shown) => /^dubbo@\d+$/.test(shown))
    ),
  },
];

function answers(fits: (difference: Answers) => boolean): Known["fits"] {
  return (difference) => difference.kind === "answers" && fits(difference);
}

function order(
  fits: (difference: Extract<Difference, { kind: "order" }>) => boolean,
): Known["fits"] {
  return (difference) => difference.kind === "order" && fits(difference);
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

/** Without what only says again what was said before. */
function distinct(shown: readonly string[]): string[] {
  return [...new Set(shown)];
}

function words(shown: string): string[] {
  return shown.split(" ");
}

/** Whether a type is only ever asked for by name. */
function isNamed(type: string): boolean {
  return XDS_TYPES.some(({ name, wildcard }) => name === type && !wildcard);
}

/** CDS, EDS, LDS, RDS. */
function rank(type: string): number {
  return XDS_TYPES.findIndex(({ name }) => name === type as XdsTypeName);
}

function inOrder(types: readonly string[]): boolean {
  return same(types.toSorted((a, b) => rank(a) - rank(b)), types);
}

/** What leads to clusters before clusters and their endpoints. */
function byAge(a: string, b: string): number {
  const age = (type: string) => (rank(type) + 2) % 4;
  return age(a) - age(b);
}
