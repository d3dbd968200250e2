/**
 * What tests of gRPC programs without a proxy start from: two servers that say their names, a Pinnace that
 * serves them as one service, and a client in each language.
 *
 * @module
 */
import { interopTest } from "./binaries.ts";
import { type Calls, GRPC_CLIENTS, GrpcBackends, GrpcClient } from "./grpc_client.ts";
import { Pinnace, type ServiceConfig } from "./pinnace.ts";
import { freePorts } from "./ports.ts";

/** The host of the service. */
export const HOST = "orders.shop.example.com";
/** How programs call it. */
export const TARGET = `xds:///${HOST}:443`;

/** Two servers, `a` and `b`, and how each is written as an endpoint. */
export class Servers implements AsyncDisposable {
  readonly #ports: Readonly<Record<string, number>>;
  readonly #backends: GrpcBackends;

  private constructor(ports: Readonly<Record<string, number>>, backends: GrpcBackends) {
    this.#ports = ports;
    this.#backends = backends;
  }

  /** Starts them on free ports. */
  static async start(): Promise<Servers> {
    const [a, b] = freePorts(2) as [number, number];
    const backends = await GrpcBackends.start({ a: `127.0.0.1:${a}`, b: `127.0.0.1:${b}` });
    return new Servers({ a, b }, backends);
  }

  /** The endpoint of a server. */
  at(name: "a" | "b", more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return { address: "127.0.0.1", ports: { "grpc-443": this.#ports[name] }, ...more };
  }

  /** Ends a server at once, as a machine that goes away. */
  close(name: "a" | "b"): Promise<void> {
    return this.#backends.close(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backends[Symbol.asyncDispose]();
  }
}

/** The service, with these endpoints. */
export function orders(endpoints: readonly unknown[], more: ServiceConfig = {}): ServiceConfig {
  return {
    name: "orders",
    namespace: "shop",
    hosts: [HOST],
    ports: ["443/GRPC"],
    endpoints,
    ...more,
  };
}

/** A test of each client, with servers, a Pinnace that serves `service` and the client. */
export function eachClient(
  what: string,
  service: (servers: Servers) => ServiceConfig,
  run: (parts: { servers: Servers; pinnace: Pinnace; client: GrpcClient }) => Promise<void>,
): void {
  for (const name of GRPC_CLIENTS) {
    interopTest(`${name}: ${what}`, [name, "grpc-backend"], async () => {
      await using servers = await Servers.start();
      await using pinnace = await Pinnace.start({ services: [service(servers)] });
      await using client = await GrpcClient.start(name, { server: pinnace.address });
      await run({ servers, pinnace, client });
    });
  }
}

/** Share of the calls that a server answered. */
export function share({ answers }: Calls, server: string): number {
  const total = Object.values(answers).reduce((sum, count) => sum + count, 0);
  return (answers[server] ?? 0) / total;
}
