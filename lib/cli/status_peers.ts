/**
 * The part of the status that is about peers: a line each, and a line each subscription where that is
 * asked for.
 *
 * @module
 */
import type { Status } from "../admin/status.ts";
import { kindByCollection, kindByTypeUrl } from "../model/kind.ts";
import { duration, type Style } from "./terminal.ts";
import { type Cell, cell, type Column } from "./text_table.ts";

type Peer = Status["peers"][number];
type Subscription = Peer["subscriptions"][number];

/** A push that waits longer than this for its answer is shown as something to look at. Milliseconds. */
const LONG = 10_000;

/** Characters of a version that are shown: enough to tell two apart. */
const VERSION = 8;

/** The columns of {@link peerRows}. */
export const PEER_COLUMNS: readonly Column[] = [
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

/** A row a peer; with `verbose` also one for each of its subscriptions. */
export function peerRows(
  peers: readonly Peer[],
  { verbose }: { readonly verbose: boolean },
): Cell[][] {
  return peers.flatMap((peer) => {
    const row = [...nameCells(peer), ...subscriptionCells(peer)];
    if (!verbose) return [row];
    return [row, ...peer.subscriptions.map((one) => [...INDENT, ...cellsOf(one)])];
  });
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
  return subscriptions.find(({ parked, lastNack }) => parked > 0 || lastNack !== undefined) ??
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
