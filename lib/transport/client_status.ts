/**
 * `envoy.service.status.v3.ClientStatusDiscoveryService`: what each xDS client of this process holds.
 * Only whoever dials from this machine is told: others would learn who all clients are.
 *
 * @module
 */
import { isLoopback } from "../model/loopback.ts";
import {
  type ClientConfig,
  type ClientStatusRequest,
  clientStatusRequestCodec,
  clientStatusResponseCodec,
  type Partially,
} from "../wire/messages.ts";
import { answering } from "./answering.ts";
import type { BriefNode } from "./brief_node.ts";
import { type ClientEntry, type Detail, entriesOf, lengthOf } from "./client_configs.ts";
import { type ClientWatch, isXds } from "./client_watch.ts";
import { NodeMatcherError, type NodeTest, nodeTest } from "./node_matching.ts";
import { answerInTurn } from "./one_request.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import type { Sender } from "./sender.ts";
import type { PushServer } from "./server.ts";
import type { SessionInfo } from "./session_info.ts";
import { readRequest } from "./side_request.ts";

/** What the status of clients is made of. */
export interface ClientStatusOptions {
  readonly sender: Sender;
  /** The live sessions, oldest first. */
  readonly sessions: () => readonly SessionInfo[];
  readonly watch: ClientWatch;
  /** The largest answer. Bytes; default 4 MiB, which is what a gRPC client takes unless told otherwise. */
  readonly largest?: number;
}

const SERVICE = "/envoy.service.status.v3.ClientStatusDiscoveryService";

/** The largest request. Bytes. */
const LARGEST_REQUEST = 256 * 1024;

/** The largest answer. Bytes. */
const LARGEST_ANSWER = 4 * 1024 * 1024;

/** Adds ClientStatusDiscoveryService to a server. */
export function addClientStatus(server: PushServer, options: ClientStatusOptions): void {
  const { sender } = options;
  const answer = (bytes: Uint8Array, { peer }: PushStream) =>
    answerTo(bytes, peer.address, options);
  server.addHandler(`${SERVICE}/StreamClientStatus`, () => {
    return answering({ sender, answer, largest: LARGEST_REQUEST, most: 10 });
  });
  server.addCall(`${SERVICE}/FetchClientStatus`, (stream, request) => {
    answerInTurn(stream, sender, () => {
      const answered = answer(request, stream);
      if (!(answered instanceof Uint8Array)) return answered;
      return { pieces: [answered], length: answered.length };
    });
  }, { largest: LARGEST_REQUEST });
}

/** The answer to one request of whoever dials from this address. */
export function answerTo(
  bytes: Uint8Array,
  address: string,
  options: Omit<ClientStatusOptions, "sender">,
): Uint8Array | EndStatus {
  if (!isLoopback(address)) {
    const message =
      `you dial from ${address}: what clients hold is told to this machine alone; dial a loopback address`;
    return { code: "PERMISSION_DENIED", message };
  }
  const request = readRequest(bytes, clientStatusRequestCodec);
  if ("refused" in request) return request.refused;
  let test: NodeTest;
  try {
    test = nodeTest(request.read.nodeMatchers);
  } catch (error) {
    if (!(error instanceof NodeMatcherError)) throw error;
    return { code: "INVALID_ARGUMENT", message: error.message };
  }
  return tell(request.read, clientsOf(options.sessions(), test), options);
}

/** An xDS client: the streams of one node on one connection. */
interface Client {
  readonly node: BriefNode;
  readonly sessions: SessionInfo[];
}

function clientsOf(sessions: readonly SessionInfo[], test: NodeTest): readonly Client[] {
  const clients = new Map<string, Client>();
  for (const session of sessions) {
    const node = session.peer?.node;
    if (!isXds(session.protocol) || node === undefined || !test(node)) continue;
    const key = JSON.stringify([node.id, session.address]);
    const client = clients.get(key) ?? { node, sessions: [] };
    client.sessions.push(session);
    clients.set(key, client);
  }
  return [...clients].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, client]) => client);
}

/** In as much detail as there is room for. */
function tell(
  { excludeResourceContents }: ClientStatusRequest,
  clients: readonly Client[],
  { watch, largest = LARGEST_ANSWER }: Omit<ClientStatusOptions, "sender">,
): Uint8Array | EndStatus {
  const details: Detail[] = ["contents", "names", "types"];
  for (const detail of details.slice(excludeResourceContents ? 1 : 0)) {
    const config = configsOf(clients, { watch, detail, room: largest });
    if (config === undefined) continue;
    const bytes = clientStatusResponseCodec.encode({ config });
    if (bytes.length <= largest) return bytes;
  }
  const message = `what ${clients.length} clients hold is more than ${largest} bytes; ` +
    "ask for some of them by node_matchers";
  return { code: "RESOURCE_EXHAUSTED", message };
}

interface Telling {
  readonly watch: ClientWatch;
  readonly detail: Detail;
  /** Bytes. */
  readonly room: number;
}

/** Undefined where there is no room for all. */
function configsOf(
  clients: readonly Client[],
  { watch, detail, room }: Telling,
): Partially<ClientConfig>[] | undefined {
  const configs: Partially<ClientConfig>[] = [];
  let length = 0;
  for (const { node, sessions } of clients) {
    length += JSON.stringify(node).length;
    const genericXdsConfigs: ClientEntry[] = [];
    for (const entry of entriesOfClient(sessions, watch, detail)) {
      length += lengthOf(entry);
      if (length > room) return undefined;
      genericXdsConfigs.push(entry);
    }
    configs.push({ node, genericXdsConfigs });
  }
  return configs;
}

function* entriesOfClient(
  sessions: readonly SessionInfo[],
  watch: ClientWatch,
  detail: Detail,
): Iterable<ClientEntry> {
  for (const session of sessions) {
    for (const status of session.subscriptions()) {
      const names = session.names?.(status.type);
      const watched = watch.of(session.key, status.type) ?? {};
      yield* entriesOf({ status, watched, ...(names && { names }) }, detail);
    }
  }
}
