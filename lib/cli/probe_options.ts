/**
 * What the options of `pinnace probe` come to.
 *
 * @module
 */
import { resolve } from "node:path";
import { type HostPort, parseHostPort } from "../config/address.ts";
import { ownHeader } from "../config/own_headers.ts";
import { parseProxy } from "../config/proxy.ts";
import { parseDuration, parseSize } from "../config/units.ts";
import type { ClientTlsSettings } from "../model/settings.ts";
import type { DialTarget } from "../transport/dial_target.ts";
import type { Node } from "../wire/messages.ts";
import { proxyOf } from "./dial_targets.ts";
import { optionName } from "./option_name.ts";
import type { ProbeFlags, ProbeFormat } from "./probe_flags.ts";
import { nodeOf } from "./probe_node.ts";
import { type Question, readQuestion } from "./probe_question.ts";

/** What to probe, and how. */
export interface ProbeOptions extends Question {
  readonly target: DialTarget;
  readonly incremental: boolean;
  /** Why the first push of each type is refused; absent: it is not. */
  readonly nack?: string;
  readonly follow: boolean;
  /** Milliseconds until each type has to be answered. */
  readonly timeout: number;
  /** Who we say we are. */
  readonly node: Partial<Node>;
  readonly format: ProbeFormat;
  /** Largest message taken. Bytes. */
  readonly maxMessage: number;
}

/** Longest time that may be waited. Milliseconds. */
const LONGEST = 86_400_000;

/** Largest message that may be taken. Bytes. */
const LARGEST = 1024 ** 3;

/** What the options come to, or what is wrong with them. */
export function readProbeOptions(address: string, flags: ProbeFlags): ProbeOptions | string {
  const empty = Object.entries(flags).find(([, value]) => value === "");
  if (empty !== undefined) return `--${optionName(empty[0])} is empty`;
  const place = parseHostPort(address.replace(/^(xds|grpc):\/\//, ""));
  if (place === undefined || place.port === 0) return `${address} is not host:port`;
  const timeout = parseDuration(flags.timeout);
  if (timeout === undefined || timeout <= 0 || timeout > LONGEST) {
    return `--timeout is a duration such as 10s, up to 24h, not ${flags.timeout}`;
  }
  const maxMessage = parseSize(flags.maxMessage);
  if (maxMessage === undefined || maxMessage <= 0 || maxMessage > LARGEST) {
    return `--max-message is a size such as 64MiB, up to 1GiB, not ${flags.maxMessage}`;
  }
  const question = readQuestion(flags);
  if (typeof question === "string") return question;
  if (flags.incremental && question.protocol !== "mcp") {
    return "--incremental is MCP's; the like of it for ADS is --protocol ads-delta";
  }
  const target = readTarget(place, flags);
  if (typeof target === "string") return target;
  const metadata = readMetadata(flags);
  if (typeof metadata === "string") return metadata;
  const { node: id, userAgent, format, incremental = false, follow = false, nack } = flags;
  const { as } = question;
  return {
    ...question,
    target,
    incremental,
    ...(nack === undefined ? {} : { nack: nack === true ? "refused by pinnace probe" : nack }),
    follow,
    timeout,
    node: nodeOf({
      ...(as === undefined ? {} : { as }),
      ...(id === undefined ? {} : { id }),
      ...(userAgent === undefined ? {} : { userAgent }),
      metadata,
    }),
    format,
    maxMessage,
  };
}

function readTarget(place: HostPort, flags: ProbeFlags): DialTarget | string {
  const headers = readHeaders(flags);
  if (typeof headers === "string") return headers;
  const tls = readTls(flags);
  if (typeof tls === "string") return tls;
  const proxy = flags.proxy === undefined ? undefined : parseProxy(flags.proxy);
  if (proxy?.ok === false) return `--proxy: ${proxy.message.replaceAll("`", "")}; ${proxy.hint}`;
  return {
    ...place,
    headers,
    ...(tls === undefined ? {} : { tls }),
    ...(flags.tokenFile === undefined ? {} : { tokenFile: resolve(flags.tokenFile) }),
    ...(proxy === undefined ? {} : { proxy: proxyOf(proxy.proxy) }),
  };
}

function readHeaders({ header = [] }: ProbeFlags): Record<string, string> | string {
  const headers: Record<string, string> = {};
  for (const one of header) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (key === undefined) return `--header is key=value, not ${one}`;
    const name = key.toLowerCase();
    if (!/^[0-9a-z_.-]+$/.test(name)) {
      return `--header: the name ${key} holds more than letters, digits, _ . and -`;
    }
    const reserved = ownHeader(name);
    if (reserved !== undefined) return `--header: ${name} cannot be set; ${reserved}`;
    // The value may be a secret: it is not repeated.
    if (!/^[\x20-\x7e]*$/.test(value!)) return `--header: ${name} holds more than printable ASCII`;
    headers[name] = value!;
  }
  return headers;
}

function readMetadata({ metadata = [] }: ProbeFlags): Record<string, string> | string {
  const pairs = metadata.map((one) => /^([^=]+)=(.*)$/s.exec(one));
  const wrong = pairs.indexOf(null);
  if (wrong >= 0) return `--metadata is key=value, not ${metadata[wrong]}`;
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]));
}

function readTls(flags: ProbeFlags): ClientTlsSettings | string | undefined {
  const { tls = false, ca, cert, key, serverName } = flags;
  const some = [ca, cert, key, serverName].some((value) => value !== undefined);
  if (!tls && !some) return undefined;
  if ((cert === undefined) !== (key === undefined)) return "--cert and --key go together";
  return {
    files: {
      kind: "files",
      ...(ca === undefined ? {} : { ca: resolve(ca) }),
      ...(cert === undefined ? {} : { cert: resolve(cert) }),
      ...(key === undefined ? {} : { key: resolve(key) }),
    },
    ...(serverName === undefined ? {} : { serverName }),
  };
}
