/**
 * What a stream of a source works with.
 *
 * @module
 */
import { McpSinkMachine } from "../protocol/mcp_sink.ts";
import type { Judge } from "../receive/received.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Inbox } from "./inbox.ts";
import type { Retries } from "./pace.ts";
import type { PushStream } from "./push_stream.ts";
import type { ReceiverObserver } from "./receiver_observer.ts";
import type { Sender } from "./sender.ts";
import type { NamedBy } from "./source_name.ts";
import type { SourceConnection } from "./source_registry.ts";

/** What a stream of a source is made of. */
export interface ReceivingParts {
  readonly key: number;
  readonly stream: PushStream;
  readonly connection: SourceConnection;
  /** Collections not to ask for before these times. Milliseconds since the epoch. */
  readonly skip: ReadonlyMap<string, number>;
  /** Whether to ask for one collection at a time. */
  readonly cautious: boolean;
  readonly namedBy: NamedBy;
  readonly instance: string | undefined;
  /** Whether it heeds `initial_resource_versions`. */
  readonly resumes: boolean;
  /** `sink_node.id`. */
  readonly nodeId: string;
  readonly collections: readonly string[];
  readonly judge: Judge;
  readonly sender: Sender;
  readonly observer: ReceiverObserver;
  readonly clock: Clock;
  /** Opens what holds its messages until it is given up. */
  readonly inbox: (givenUp: () => void) => Inbox;
  /** Attempts of the source to have its pushes saved; outlives the stream. */
  readonly unsaved: Retries;
  /** Told of each collection about which the source answers. */
  readonly answered: (collection: string) => void;
}

/** The machine that speaks on such a stream. */
export function machineOf(parts: ReceivingParts): McpSinkMachine {
  const { nodeId, collections, resumes, cautious, skip, connection } = parts;
  return new McpSinkMachine({
    ...{ nodeId, collections, resumes, cautious },
    incremental: true,
    initial: (collection) => connection.held(collection),
    skip: new Set(skip.keys()),
  });
}
