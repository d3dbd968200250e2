/**
 * The fields of our interfaces of what clients' status is asked and told with; the compiler sees to it
 * that none is missing and none too many.
 *
 * @module
 */
import type * as messages from "../../lib/wire/messages.ts";

type Keys<T> = Record<keyof Required<T>, true>;
type Fields = Readonly<Record<string, true>>;

function keys<T>(of: Keys<T>): Fields {
  return of;
}

/** By the full name of the message. */
export const STATUS_INTERFACES: Readonly<Record<string, Fields>> = {
  "envoy.type.matcher.v3.StringMatcher": keys<messages.StringMatcher>({
    exact: true,
    prefix: true,
    suffix: true,
    safeRegex: true,
    contains: true,
    ignoreCase: true,
  }),
  "envoy.type.matcher.v3.RegexMatcher": keys<messages.RegexMatcher>({ regex: true }),
  "envoy.type.matcher.v3.NodeMatcher": keys<messages.NodeMatcher>({
    nodeId: true,
    nodeMetadatas: true,
  }),
  "envoy.type.matcher.v3.StructMatcher": keys<messages.StructMatcher>({ path: true, value: true }),
  "envoy.type.matcher.v3.ValueMatcher": keys<messages.ValueMatcher>({
    nullMatch: true,
    doubleMatch: true,
    stringMatch: true,
    boolMatch: true,
    presentMatch: true,
    listMatch: true,
    orMatch: true,
  }),
  "envoy.type.matcher.v3.DoubleMatcher": keys<messages.DoubleMatcher>({ range: true, exact: true }),
  "envoy.service.status.v3.ClientStatusRequest": keys<messages.ClientStatusRequest>({
    nodeMatchers: true,
    node: true,
    excludeResourceContents: true,
  }),
  "envoy.service.status.v3.ClientStatusResponse": keys<messages.ClientStatusResponse>({
    config: true,
  }),
  "envoy.service.status.v3.ClientConfig": keys<messages.ClientConfig>({
    node: true,
    genericXdsConfigs: true,
    clientScope: true,
  }),
  "envoy.service.status.v3.ClientConfig.GenericXdsConfig": keys<messages.GenericXdsConfig>({
    typeUrl: true,
    name: true,
    versionInfo: true,
    xdsConfig: true,
    lastUpdated: true,
    configStatus: true,
    clientStatus: true,
    errorState: true,
    isStaticResource: true,
  }),
  "envoy.admin.v3.UpdateFailureState": keys<messages.UpdateFailureState>({
    failedConfiguration: true,
    lastUpdateAttempt: true,
    details: true,
    versionInfo: true,
  }),
};
