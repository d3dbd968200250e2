/**
 * The part of the status that is about peers: a line each, and a line each subscription where that is
 * asked for. On a narrow terminal what is to be looked at has a line of its own.
 *
 * @module
 */
import type { Status } from "../admin/status.ts";
import { kindByCollection, kindByTypeUrl } from "../model/kind.ts";
import { duration, type Style } from "./terminal.ts";
import {
  type Cell,
  cell,
  type Column,
  type Layout,
  leastWidth,
  tableLines,
  textLine,
  textOf,
} from "./text_table.ts";

type Peer = Status["peers"][number];
type Subscription = Peer["subscriptions"][number];

/** A push that waits longer than this for its answer is shown as something to look at. Milliseconds. */
const LONG = 10_000;

/** Characters of a version that are shown: enough to tell two apart. */
const VERSION = 8;

const COLUMNS: readonly Column[] = [
  { title: "ADDRESS", least: 15 },
  { title: "NODE", least: 12 },
  { title: "IDENTITY", least: 12 },
  { title: "PROTOCOL" },
  { title: "AS" },
  { title: "COLLECTION", least: 12 },
  { title: "SENT" },
  { title: "ACKED" },
  { title: "UNACKED" },
  { title: "LAST NACK", least: 10 },
];

/** Those of {@link COLUMNS} that there is room for: who it proved to be and what it refused gets a line of its own. */
const NARROW: readonly { readonly at: number; readonly least?: number }[] = [
  { at: 0, least: 15 },
  { at: 1, least: 8 },
  { at: 4 },
  { at: 5, least: 8 },
  { at: 6, least: 4 },
  { at: 7, least: 4 },
  { at: 8 },
];

/** Where of a row stands who it proved to be, how long it has been silent, and what it refused. */
const [IDENTITY, UNACKED, NACK] = [2, 8, 9];

/**
 * The titles of the columns, and the lines of each peer; with `verbose` also one for each of its
 * subscriptions. Those come first that there is something to see to.
 */
export function peerLines(
  peers: readonly Peer[],
  { verbose, ...layout }: Layout & { readonly verbose: boolean },
): { readonly columns: string; readonly groups: readonly (readonly string[])[] } {
  const groups = peers.toSorted((a, b) => urgency(b) - urgency(a)).map((peer) => {
    const row = [...nameCells(peer), ...subscriptionCells(peer)];
    return { peer, rows: verbose ? [row, ...ofSubscriptions(peer)] : [row] };
  });
  const all = groups.flatMap(({ rows }) => rows);
  const isNarrow = leastWidth(COLUMNS, all) > (layout.width ?? Infinity);
  const [columns = "", ...lines] = isNarrow
    ? tableLines(NARROW.map(columnOf), all.map((row) => NARROW.map(({ at }) => row[at]!)), layout)
    : tableLines(COLUMNS, all, layout);
  let next = 0;
  return {
    columns,
    groups: groups.map(({ peer, rows }) =>
      rows.flatMap((row, at) => {
        const line = lines[next++]!;
        if (!isNarrow) return [line];
        // With `verbose`, each subscription says itself what it refused.
        const said = verbose && at === 0 ? row.with(NACK, "") : row;
        const note = noteOf(said, at === 0 && urgency(peer) > 0);
        return note.length === 0 ? [line] : [line, textLine(["  ", ...note], layout)];
      })
    ),
  };
}

function columnOf({ at, least }: (typeof NARROW)[number]): Column {
  return { title: COLUMNS[at]!.title, ...(least === undefined ? {} : { least }) };
}

/** What of a row is to be looked at, for a line of its own; `named`: with who it is. */
function noteOf(row: readonly Cell[], named: boolean): Cell[] {
  const [identity, unacked, nack] = [row[IDENTITY]!, row[UNACKED]!, row[NACK]!];
  const parts = [
    ...(textOf(nack) === "" ? [] : [["last NACK: ", nack]]),
    ...(named && textOf(unacked) !== "" ? [["no answer for ", unacked]] : []),
    ...(named && textOf(identity) !== "" ? [[identity]] : []),
  ];
  return parts.flatMap((part, at) => at === 0 ? part : [", ", ...part]);
}

/** How much there is to see to: a refusal before a long silence before nothing. */
function urgency({ subscriptions, oldestUnackedMs = 0 }: Peer): number {
  if (subscriptions.some(isRefusing)) return 2;
  return oldestUnackedMs > LONG ? 1 : 0;
}

function isRefusing({ parked, lastNack }: Subscription): boolean {
  return parked > 0 || lastNack !== undefined;
}

function ofSubscriptions({ subscriptions }: Peer): Cell[][] {
  return subscriptions.map((one) => [...INDENT, ...cellsOf(one)]);
}

const INDENT: readonly Cell[] = ["", "", "", "", ""];

function nameCells(peer: Peer): Cell[] {
  const { address, node, identity, protocol, kind, sink, wave } = peer;
  const name = sink === undefined ? node ?? "" : node ? `${sink} (${node})` : sink;
  const as = wave === 1 ? kind : `${kind}, wave ${wave}`;
  return [address, name, identity ?? "", protocol, as];
}

/** Of many subscriptions the one to look at first speaks for all. */
function subscriptionCells({ subscriptions, oldestUnackedMs }: Peer): Cell[] {
  const lead = leading(subscriptions);
  if (lead === undefined) return [cell("none", "dim"), "", "", "", ""];
  const [type, sent, acked, , nack] = cellsOf(lead);
  const others = subscriptions.length - 1;
  const unacked = oldestUnackedMs === undefined
    ? ""
    : cell(duration(oldestUnackedMs), oldestUnackedMs > LONG ? "bad" : "plain");
  return [others === 0 ? type! : `${type} +${others}`, sent!, acked!, unacked, nack!];
}

function leading(subscriptions: readonly Subscription[]): Subscription | undefined {
  return subscriptions.find(isRefusing) ??
    subscriptions.find(({ pending }) => pending) ??
    subscriptions.find(({ type }) => shortType(type) === "ServiceEntry") ?? subscriptions[0];
}

function cellsOf(one: Subscription): Cell[] {
  const { type, sentVersion, ackedVersion, pending, lastNack, parked } = one;
  const held = parked > 0 ? `${parked} held back: ` : "";
  return [
    shortType(type),
    short(sentVersion),
    cell(short(ackedVersion), styleOf(one)),
    pending ? "waits" : "",
    lastNack === undefined && parked === 0 ? "" : cell(held + (lastNack ?? ""), "bad"),
  ];
}

function styleOf({ sentVersion, ackedVersion }: Subscription): Style {
  if (sentVersion === undefined) return "plain";
  return sentVersion === ackedVersion ? "good" : "warn";
}

/** A kind's name where the type is one's, else its last part. */
function shortType(type: string): string {
  const kind = kindByCollection(type) ?? kindByTypeUrl(type);
  return kind?.kind ?? type.slice(type.lastIndexOf("/") + 1);
}

function short(version: string | undefined): string {
  return version === undefined || version === "" ? "-" : version.slice(0, VERSION);
}
