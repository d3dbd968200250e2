/**
 * Asks an istiod as the Envoy of a pod would, so that a test sees what its sidecars are told.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import {
  type Any,
  discoveryRequestCodec,
  discoveryResponseCodec,
  type Node,
  type Partially,
} from "../../../lib/wire/messages.ts";

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

const text = (value: string) => ({ stringValue: value });

/** A pod of namespace `shop`. It has to have labels: of an Envoy without any istiod heeds no priorities. */
const NODE: Partially<Node> = {
  id: "sidecar~10.9.9.9~client-1.shop~shop.svc.cluster.local",
  cluster: "client.shop",
  metadata: {
    fields: {
      NAMESPACE: text("shop"),
      CLUSTER_ID: text("Kubernetes"),
      ISTIO_VERSION: text("1.30.0"),
      LABELS: { structValue: { fields: { app: text("client") } } },
    },
  },
};

/** Milliseconds until an answer has to be there. */
const PATIENCE = 10_000;

/** The resources of a type that istiod gives a sidecar; of these names, where any are given. */
export async function askAsSidecar(
  address: string,
  typeUrl: string,
  resourceNames: readonly string[] = [],
): Promise<readonly Any[]> {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes);
  const toBytes = (buffer: Buffer) => new Uint8Array(buffer);
  const options = { deadline: Date.now() + PATIENCE };
  const stream = client.makeBidiStreamRequest(METHOD, toBuffer, toBytes, options);
  try {
    return await new Promise((resolve, reject) => {
      stream.on("error", reject);
      stream.on("data", (bytes: Uint8Array) => {
        const response = discoveryResponseCodec.decode(bytes);
        if (response.typeUrl === typeUrl) resolve(response.resources);
      });
      stream.write(discoveryRequestCodec.encode({ node: NODE, typeUrl, resourceNames }));
    });
  } finally {
    stream.removeAllListeners("error").on("error", () => {});
    stream.cancel();
    client.close();
  }
}
