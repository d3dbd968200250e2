/**
 * The client of ADS that the probe speaks, state of the world and delta.
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import { AdsClientMachine, type AdsRequest } from "../protocol/ads_client.ts";
import { ADS_PATHS } from "../transport/method_paths.ts";
import { decode } from "../wire/codec.ts";
import type { Any, DeltaResource } from "../wire/messages.ts";
import {
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  discoveryRequestCodec,
  discoveryResponseCodec,
  mcpResourceCodec,
} from "../wire/messages.ts";
import type { ProbeClient } from "./probe_client.ts";
import { ProbeLedger } from "./probe_ledger.ts";
import type { ProbeOptions } from "./probe_options.ts";
import { boundOf, ofMcp, type ProbedPush, type ProbedResource } from "./probe_push.ts";
import { ProbeWalk } from "./probe_walk.ts";

/** The client's side of an ADS stream; with a walk it asks for what it finds. */
export function adsClient({ node, types, protocol, walk: begin }: ProbeOptions): ProbeClient {
  const variant = protocol === "ads" ? "sotw" : "delta";
  const machine = new AdsClientMachine({
    variant,
    node,
    types,
  });
  const ledger = new ProbeLedger(types);
  const walk = begin && new ProbeWalk(begin);
  const read = variant === "sotw" ? readSotw : readDelta;
  return {
    path: ADS_PATHS[variant],
    next() {
      const request = machine.next();
      return request && encodeAds(request);
    },
    receive(bytes) {
      const push = read(bytes);
      const received = machine.receive(push);
      switch (received.kind) {
        case "unfit":
          return { kind: "wrong", message: received.message };
        case "unasked":
          return { kind: "other", message: `${push.type} was sent and not asked for` };
        case "response":
          return { kind: "push", push };
      }
    },
    settle(push, error) {
      machine.settle(push.type, push.nonce, error);
      ledger.take(push, error !== undefined);
      if (error !== undefined || walk === undefined) return;
      const wanted = walk.take(push);
      ledger.rename(wanted);
      for (const [typeUrl, names] of wanted) machine.rename(typeUrl, names);
    },
    standing: () => ledger.standing(),
  };
}

function encodeAds(request: AdsRequest): Uint8Array {
  return request.variant === "sotw"
    ? discoveryRequestCodec.encode(request.message)
    : deltaDiscoveryRequestCodec.encode(request.message);
}

function readSotw(bytes: Uint8Array): ProbedPush {
  const { typeUrl: type, versionInfo: version, nonce, resources } = discoveryResponseCodec
    .decode(bytes, boundOf(bytes));
  return {
    type,
    version,
    nonce,
    incremental: false,
    resources: resources.map((any) => ofAny(any)),
    removed: [],
  };
}

function readDelta(bytes: Uint8Array): ProbedPush {
  const { typeUrl: type, systemVersionInfo: version, nonce, resources, removedResources } =
    deltaDiscoveryResponseCodec.decode(bytes, boundOf(bytes));
  return {
    type,
    version,
    nonce,
    incremental: true,
    resources: resources.map(({ name, version, resource }) => ({
      ...ofAny(resource ?? NOTHING),
      name,
      version,
    })),
    removed: removedResources,
  };
}

const WRAPPED = "envoy.service.discovery.v3.Resource";
const WRAPPER = `type.googleapis.com/${WRAPPED}`;
const NOTHING: Any = { typeUrl: "", value: new Uint8Array() };

/** Istio's kinds come as an MCP resource within, some servers' with a name and a version; of all else the first field is the name. */
function ofAny(any: Any): ProbedResource {
  if (any.typeUrl === MCP_RESOURCE_TYPE_URL) return ofMcp(mcpResourceCodec.decode(any.value));
  if (any.typeUrl === WRAPPER) {
    const { name, version, resource } = decode<DeltaResource>(WRAPPED, any.value);
    return { name, version, content: { kind: "any", any: resource ?? NOTHING } };
  }
  return { name: firstText(any.value), version: "", content: { kind: "any", any } };
}

/** Field 1 as text, where a message begins with it: the name of Envoy's resources. */
function firstText(bytes: Uint8Array): string {
  if (bytes[0] !== 0x0a) return "";
  let length = 0;
  let at = 1;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return new TextDecoder().decode(bytes.subarray(at, Math.min(at + length, at + LONGEST_NAME)));
}

const LONGEST_NAME = 1000;
