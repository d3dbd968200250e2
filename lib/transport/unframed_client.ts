/**
 * The other place that reaches into grpc-js (private, 1.14.7): a client whose calls write bytes as they
 * are, so that a message can be written in pieces, and whose connections are made by us, so that one
 * that nobody answers can be given up. grpc-js frames each message it sends in the last filter of its
 * channel (`internalChannel.filterStackFactory`); here that filter lets them pass. It connects in
 * `tcpConnect` of the connectors of its subchannels and waits there as long as the system does, whether
 * or not the client was closed. A test fails when grpc-js changes.
 *
 * @module
 */
import type { NetConnectOpts, Socket } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { GrpcInternalsError } from "./hooked_server.ts";

interface Filter {
  sendMessage(message: Promise<unknown>): Promise<unknown>;
}

interface FilterFactory {
  createFilter(): Filter;
}

interface Subchannel {
  readonly connector?: { tcpConnect?: Connect };
}

interface Internals {
  readonly internalChannel?: {
    readonly filterStackFactory?: { readonly factories?: readonly FilterFactory[] };
    readonly subchannelPool?: { getOrCreateSubchannel?(...args: unknown[]): Subchannel };
  };
}

/** Makes a connection to one address. */
export type Connect = (address: NetConnectOpts) => Promise<Socket>;

/** A client of one target, for calls that frame their messages themselves; `connect` makes its connections. */
export function unframedClient(
  target: string,
  credentials: grpc.ChannelCredentials,
  connect: Connect,
  options: grpc.ClientOptions,
): grpc.Client {
  const client = new grpc.Client(target, credentials, {
    ...options,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
    // Nothing is kept for a retry, so a write is done when the transport took it and not before.
    "grpc.enable_retries": 0,
    "grpc.per_rpc_retry_buffer_size": 0,
  });
  try {
    const internals = client.getChannel() as unknown as Internals;
    writeUnframed(internals);
    connectBy(internals, connect);
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}

function writeUnframed({ internalChannel }: Internals): void {
  const factories = internalChannel?.filterStackFactory?.factories;
  if (factories?.length !== 1) {
    throw new GrpcInternalsError("grpc-js frames its messages in another way");
  }
  const create = factories[0]!.createFilter.bind(factories[0]);
  factories[0]!.createFilter = () => Object.assign(create(), { sendMessage: asItIs });
}

function connectBy({ internalChannel }: Internals, connect: Connect): void {
  const pool = internalChannel?.subchannelPool;
  const create = pool?.getOrCreateSubchannel?.bind(pool);
  if (pool === undefined || create === undefined) {
    throw new GrpcInternalsError("grpc-js gets its subchannels in another way");
  }
  pool.getOrCreateSubchannel = (...args) => {
    const subchannel = create(...args);
    const { connector } = subchannel;
    if (typeof connector?.tcpConnect !== "function") {
      throw new GrpcInternalsError("grpc-js connects in another way");
    }
    connector.tcpConnect = connect;
    return subchannel;
  };
}

function asItIs(message: Promise<unknown>): Promise<unknown> {
  return message;
}
