/**
 * The other place that reaches into grpc-js: a client whose calls write bytes as they are, so that a
 * message can be written in pieces. grpc-js frames each message it sends in the last filter of its
 * channel (`internalChannel.filterStackFactory`, private, 1.14.7); here that filter lets them pass. A
 * test fails when grpc-js changes.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { GrpcInternalsError } from "./hooked_server.ts";

interface Filter {
  sendMessage(message: Promise<unknown>): Promise<unknown>;
}

interface FilterFactory {
  createFilter(): Filter;
}

/** A client of one address, for calls that frame their messages themselves. */
export function unframedClient(
  target: string,
  credentials: grpc.ChannelCredentials,
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
  const channel = client.getChannel() as unknown as {
    internalChannel?: { filterStackFactory?: { factories?: FilterFactory[] } };
  };
  const factories = channel.internalChannel?.filterStackFactory?.factories;
  if (factories?.length !== 1) {
    client.close();
    throw new GrpcInternalsError("grpc-js frames its messages in another way");
  }
  const create = factories[0]!.createFilter.bind(factories[0]);
  factories[0]!.createFilter = () => Object.assign(create(), { sendMessage: asItIs });
  return client;
}

function asItIs(message: Promise<unknown>): Promise<unknown> {
  return message;
}
