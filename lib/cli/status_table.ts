/**
 * The status of a running Pinnace as lines for people. Pure: a status goes in, lines come out.
 *
 * @module
 */
import type { Status } from "../admin/status.ts";
import { causesOf } from "./causes.ts";
import { peerLines } from "./status_peers.ts";
import { type Section, sectionLines } from "./status_sections.ts";
import { duration } from "./terminal.ts";
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

/** How a status is shown. */
export interface StatusLayout extends Layout {
  /** Milliseconds since the epoch: what ages count from. */
  readonly now: number;
  /** Whether each subscription gets a line. */
  readonly verbose: boolean;
  /** Lines that there is room for; absent: as many as are needed. */
  readonly rows?: number;
}

/** How long a section comes first that there is not always room for. Milliseconds. */
const TURN = 4000;

/** A certificate that ends within this is shown at the top. Milliseconds. */
const SOON = 30 * 86_400_000;

/** The lines of a status. None is longer than `width`; of few `rows` each section gets its share. */
export function statusLines(status: Status, layout: StatusLayout): string[] {
  const sections: readonly Section[] = [
    { title: "PEERS", ...peerLines(status.peers, layout) },
    { title: "SINKS", ...section(SINK_COLUMNS, sinkRows(status, layout), layout) },
    { title: "SOURCES", ...section(SOURCE_COLUMNS, sourceRows(status, layout), layout) },
    { title: "CHANGES", ...section(EVENT_COLUMNS, eventRows(status, layout), layout) },
  ];
  const { rows, now } = layout;
  return sectionLines(
    headLines(status, layout),
    sections.filter(({ groups }) => groups.length > 0),
    {
      ...(rows === undefined ? {} : { rows }),
      turn: Math.floor(now / TURN),
      titleLine: (title, more) =>
        textLine([cell(title, "bold"), more === 0 ? "" : `  … ${more} more`], layout),
    },
  );
}

/** A table as a section. Where it is too wide, what its last column says stands below its row. */
function section(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: StatusLayout,
): Omit<Section, "title"> {
  const isNarrow = leastWidth(columns, rows) > (layout.width ?? Infinity);
  const [head = "", ...lines] = isNarrow
    ? tableLines(columns.slice(0, -1), rows.map((row) => row.slice(0, -1)), layout)
    : tableLines(columns, rows, layout);
  const below = (row: readonly Cell[]) => {
    const last = row.at(-1) ?? "";
    return !isNarrow || textOf(last) === "" ? [] : [textLine(["  ", last], layout)];
  };
  return { columns: head, groups: lines.map((line, at) => [line, ...below(rows[at]!)]) };
}

function headLines(status: Status, layout: StatusLayout): string[] {
  const { instance, version, startedAt, listen, alerts, certificates } = status;
  const lines: Cell[][] = [
    [
      cell(instance, "bold"),
      `  pinnace ${version}, up ${age(startedAt, layout)}`,
      listen.length === 0 ? ", no port open" : "",
      portsOf(status, "peers", ", listening on "),
      portsOf(status, "sources", ", taking from sources on "),
    ],
    snapshotLine(status, layout),
    findingsLine(status, layout),
    ...alerts.map(({ kind, since, message }) => [
      cell(`alert: ${kind}`, "bad"),
      ` for ${age(since, layout)}: ${message}`,
    ]),
    ...certificates.flatMap((one) => certificateLine(one, layout)),
  ];
  return lines.filter((line) => line.length > 0).map((line) => textLine(line, layout));
}

function portsOf({ listen }: Status, use: "peers" | "sources", lead: string): string {
  const ports = listen.filter((one) => one.use === use);
  if (ports.length === 0) return "";
  return lead + ports.map(describePort).join(", ");
}

function describePort({ address, tls, alive, problem }: Status["listen"][number]): string {
  const more = [
    ...(tls ? ["TLS"] : []),
    ...(problem !== undefined ? ["not open yet"] : alive ? [] : ["takes no connections"]),
  ];
  return more.length === 0 ? address : `${address} (${more.join(", ")})`;
}

function snapshotLine({ snapshot }: Status, layout: StatusLayout): Cell[] {
  if (snapshot === undefined) return [cell("nothing is published yet", "warn")];
  const { id, publishedAt, saved, services, resources } = snapshot;
  const kinds = Object.entries(resources).filter(([, count]) => count > 0)
    .map(([kind, count]) => `${kind} ${count}`);
  return [
    `snapshot ${id}, published ${age(publishedAt, layout)} ago, `,
    saved ? "saved" : cell("not saved", "warn"),
    `: ${plural(services, "service")}${kinds.length === 0 ? "" : `; ${kinds.join(", ")}`}`,
  ];
}

function findingsLine({ reload, findings }: Status, layout: StatusLayout): Cell[] {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  const when = reload === undefined ? "" : `configuration loaded ${age(reload.at, layout)} ago`;
  if (findings.length === 0) return when === "" ? [] : [when, ": ", cell("fine", "good")];
  return [
    when === "" ? "findings" : when,
    ": ",
    cell(plural(errors, "error"), errors > 0 ? "bad" : "plain"),
    ", ",
    cell(plural(warnings, "warning"), warnings > 0 ? "warn" : "plain"),
  ];
}

function certificateLine(
  { use, subject, notAfter, problem }: Status["certificates"][number],
  { now }: StatusLayout,
): Cell[][] {
  if (subject === undefined || notAfter === undefined) {
    return [[`certificate of ${use}: `, cell(problem ?? "it cannot be read", "bad")]];
  }
  const left = Date.parse(notAfter) - now;
  if (problem === undefined && left > SOON) return [];
  const ends = left <= 0
    ? cell(`ended ${duration(-left)} ago`, "bad")
    : cell(`ends in ${duration(left)}`, left > SOON ? "plain" : "warn");
  const why = problem === undefined ? [] : [": ", cell(problem, "bad")];
  return [[`certificate of ${use} (${subject}) `, ends, ...why]];
}

const SINK_COLUMNS: readonly Column[] = [
  { title: "NAME", least: 12 },
  { title: "ADDRESS", least: 15 },
  { title: "STATE" },
  { title: "FOR" },
  { title: "TRIES" },
  { title: "NEXT" },
  { title: "LAST ERROR", least: 10 },
];

function sinkRows({ sinks }: Status, layout: StatusLayout): Cell[][] {
  return sinks.flatMap(({ name, address, unresolved, links }) => {
    const rows: Cell[][] = [];
    if (unresolved !== undefined || links.length === 0) {
      const state = unresolved === undefined
        ? cell("looking up", "plain")
        : cell("unresolved", "bad");
      rows.push([name, address, state, "", "", "", unresolved ?? ""]);
    }
    return [...rows, ...links.map((link) => [name, ...linkCells(link, layout)])];
  });
}

function linkCells(link: Status["sinks"][number]["links"][number], layout: StatusLayout): Cell[] {
  const { address, state, since, retryAt, attempts, lastError } = link;
  const style = state === "up" ? "good" : state === "waiting" ? "bad" : "warn";
  return [
    address,
    cell(state, style),
    since === undefined ? "" : age(since, layout),
    attempts === 0 ? "" : String(attempts),
    retryAt === undefined ? "" : `in ${duration(Date.parse(retryAt) - layout.now)}`,
    lastError ?? "",
  ];
}

const SOURCE_COLUMNS: readonly Column[] = [
  { title: "NAME", least: 16 },
  { title: "VIA" },
  { title: "ADDRESS", least: 15 },
  { title: "STATE" },
  { title: "FOR" },
  { title: "LAST PUSH" },
  { title: "RESOURCES", least: 12 },
  { title: "PROBLEM", least: 10 },
];

function sourceRows({ sources }: Status, layout: StatusLayout): Cell[][] {
  return sources.map((one) => {
    const style = one.state === "connected" ? "good" : "warn";
    const kinds = Object.entries(one.resources).filter(([, count]) => count > 0);
    const named = one.instance === undefined || one.instance === one.name
      ? one.name
      : `${one.name} (${one.instance})`;
    return [
      named,
      one.via,
      one.address ?? "",
      cell(one.state, style),
      one.since === undefined ? "" : age(one.since, layout),
      one.lastPushAt === undefined ? "" : `${age(one.lastPushAt, layout)} ago`,
      kinds.map(([kind, count]) => `${kind} ${count}`).join(", "),
      problemOf(one),
    ];
  });
}

function problemOf({ held, refused, lastError }: Status["sources"][number]): Cell {
  if (refused !== undefined) return cell(`refused: ${refused.message}`, "bad");
  if (held !== undefined) return cell(`held ${held.id}: ${held.message}`, "warn");
  return lastError ?? "";
}

const EVENT_COLUMNS: readonly Column[] = [
  { title: "SEQ" },
  { title: "AGE" },
  { title: "SERVICES" },
  { title: "RESOURCES" },
  { title: "ANSWERS", least: 10 },
  { title: "CAUSE", least: 12 },
];

function eventRows({ events }: Status, layout: StatusLayout): Cell[][] {
  return events.map(({ seq, at, services, resources, answers, causes }) => [
    String(seq),
    age(at, layout),
    change(services),
    change(resources),
    answersOf(answers),
    causesOf(causes),
  ]);
}

function change({ added, changed, removed }: Status["events"][number]["services"]): string {
  return `+${added.count} ~${changed.count} -${removed.count}`;
}

function answersOf({ acks, nacks, lost, pending, slowestMs }: Status["events"][number]["answers"]) {
  const parts: string[] = [];
  if (acks > 0) parts.push(`${acks} ACK`);
  if (nacks > 0) parts.push(`${nacks} NACK`);
  if (lost > 0) parts.push(`${lost} lost`);
  if (pending > 0) parts.push(`${pending} pending`);
  if (slowestMs !== undefined) parts.push(`in ${duration(slowestMs)}`);
  return cell(parts.join(", "), nacks > 0 ? "bad" : pending > 0 ? "warn" : "plain");
}

function age(since: string, { now }: StatusLayout): string {
  return duration(now - Date.parse(since));
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
