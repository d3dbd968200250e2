/**
 * What is served while a client is recorded and when its transcript is played: services that change
 * in every way that makes a control plane say something.
 *
 * @module
 */
import type { ServiceConfig } from "../lib/pinnace.ts";

/** Ports are fixed: transcripts hold them, in the names of clusters. */
const WEB = 18480;
const GRPC = 18451;
const PLAIN = 18432;
/** Of a listener that a recorded Envoy cannot open, since the recorder has the port. */
export const TAKEN = 18499;

/** HTTP, two endpoints with versions, and another name. */
function orders(more: ServiceConfig = {}): ServiceConfig {
  return {
    name: "orders",
    namespace: "shop",
    aliases: ["orders-provider"],
    ports: [`${WEB}:8080/HTTP`],
    endpoints: [
      { address: "127.0.5.1", labels: { version: "v1" }, locality: "eu/fra/a" },
      { address: "127.0.5.2", labels: { version: "v2" }, locality: "eu/fra/b" },
    ],
    ...more,
  };
}

/** What gRPC clients call. */
function echo(endpoint: string, more: ServiceConfig = {}): ServiceConfig {
  return {
    name: "echo",
    namespace: "shop",
    aliases: ["echo-provider"],
    ports: [`${GRPC}:50051/GRPC`],
    endpoints: [endpoint],
    ...more,
  };
}

const database: ServiceConfig = {
  name: "database",
  namespace: "shop",
  ports: [`${PLAIN}:5432/TCP`],
  endpoints: ["127.0.5.9"],
};

const ledger: ServiceConfig = {
  name: "ledger",
  namespace: "shop",
  ports: [`${WEB}:8080/HTTP`],
  endpoints: ["127.0.5.7"],
};

const taken: ServiceConfig = { ...ledger, name: "taken", ports: [`${TAKEN}:8080/HTTP`] };

const patient = echo("127.0.5.4", { minHealthy: 0.5 });

/** The services of each world, in the order in which a recording goes through them. */
export const WORLDS: Readonly<Record<string, readonly ServiceConfig[]>> = {
  first: [orders(), echo("127.0.5.3"), database],
  "endpoint changed": [orders(), echo("127.0.5.4"), database],
  "service added": [orders(), echo("127.0.5.4"), database, ledger],
  split: [orders({ split: { v1: 80, v2: 20 } }), echo("127.0.5.4"), database, ledger],
  "cluster changed": [
    orders({ split: { v1: 80, v2: 20 } }),
    patient,
    database,
    ledger,
  ],
  "split ended": [orders(), patient, database, ledger],
  "service removed": [orders(), patient, ledger],
  "refused by an Envoy": [orders(), patient, ledger, taken],
  "no longer refused": [orders(), patient, ledger],
  "service of gRPC removed": [orders(), ledger],
  "service of gRPC back": [orders(), patient, ledger],
};

/** How a gRPC client names what it calls. */
export const GRPC_TARGET = `echo.shop.svc.cluster.local:${GRPC}`;

/** How an application is named that a Dubbo consumer calls. */
export const DUBBO_TARGET = "echo-provider";
