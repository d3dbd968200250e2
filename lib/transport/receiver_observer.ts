/**
 * What there is to know of the streams on which we are the sink: for logs, metrics and status.
 *
 * @module
 */
import type { SinkWatchStatus } from "../protocol/sink_watch.ts";
import type { PushHead } from "../receive/received.ts";
import type { Status } from "../wire/messages.ts";
import type { NamedBy } from "./source_name.ts";
import type { AcceptedPush, RefusedPush } from "./source_registry.ts";

/** A stream of a source, for logs, metrics and status. */
export interface ReceivedStreamInfo {
  readonly key: number;
  /** Name of the source. */
  readonly source: string;
  readonly namedBy: NamedBy;
  /** `host:port` that it dialled from. */
  readonly address: string;
  /** What the source calls itself, if it does. */
  readonly instance: string | undefined;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  /** Bytes of its messages. */
  readonly bytesReceived: number;
  collections(): readonly SinkWatchStatus[];
}

/** Told what happens on streams of sources: for logs and metrics. Must not throw. */
export interface ReceiverObserver {
  opened(stream: ReceivedStreamInfo): void;
  /** A push was judged; its answer follows. */
  push(stream: ReceivedStreamInfo, push: AcceptedPush | RefusedPush, bytes: number): void;
  /** A push is saved and will be acknowledged. */
  acked(stream: ReceivedStreamInfo, head: PushHead): void;
  /** A push will be refused with this gRPC status. */
  nacked(stream: ReceivedStreamInfo, head: PushHead, status: Status): void;
  /** `reason` is absent where the source simply left. */
  closed(stream: ReceivedStreamInfo, reason?: string): void;
  /** Someone who dialled was not let in. */
  denied(address: string, reason: string): void;
}
