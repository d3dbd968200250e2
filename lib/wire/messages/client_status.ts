/**
 * What each client holds: package `envoy.service.status.v3`, without its deprecated form.
 *
 * @module
 */
import type { Any, Timestamp } from "./common.ts";
import type { NodeMatcher } from "./matcher.ts";
import type { Node } from "./node.ts";

/** `envoy.service.status.v3.ClientStatusRequest`. */
export interface ClientStatusRequest {
  /** Any of these must fit; empty: every client. */
  readonly nodeMatchers: readonly NodeMatcher[];
  readonly node?: Node;
  readonly excludeResourceContents: boolean;
}

/** `envoy.service.status.v3.ClientStatusResponse`. */
export interface ClientStatusResponse {
  readonly config: readonly ClientConfig[];
}

/** `envoy.service.status.v3.ClientConfig`: one client. */
export interface ClientConfig {
  readonly node?: Node;
  readonly genericXdsConfigs: readonly GenericXdsConfig[];
  readonly clientScope: string;
}

/** `envoy.service.status.v3.ClientConfig.GenericXdsConfig`: one resource of a client. */
export interface GenericXdsConfig {
  readonly typeUrl: string;
  readonly name: string;
  readonly versionInfo: string;
  readonly xdsConfig?: Any;
  readonly lastUpdated?: Timestamp;
  readonly configStatus: "UNKNOWN" | "SYNCED" | "NOT_SENT" | "STALE" | "ERROR" | number;
  readonly clientStatus: ClientResourceStatus;
  readonly errorState?: UpdateFailureState;
  readonly isStaticResource: boolean;
}

/** `envoy.admin.v3.ClientResourceStatus`. */
export type ClientResourceStatus =
  | "UNKNOWN"
  | "REQUESTED"
  | "DOES_NOT_EXIST"
  | "ACKED"
  | "NACKED"
  | "RECEIVED_ERROR"
  | "TIMEOUT"
  | number;

/** `envoy.admin.v3.UpdateFailureState`. */
export interface UpdateFailureState {
  readonly failedConfiguration?: Any;
  readonly lastUpdateAttempt?: Timestamp;
  readonly details: string;
  readonly versionInfo: string;
}
