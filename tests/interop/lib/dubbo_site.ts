/**
 * A Pinnace and two Dubbo providers that it serves to consumers.
 *
 * @module
 */
import type { Status } from "../../../lib/admin/status_schema.ts";
import { Dubbo, METADATA_PORT, registryOf, startProvider } from "./dubbo.ts";
import { OwnAddresses } from "./own_addresses.ts";
import { Pinnace, type ServiceConfig } from "./pinnace.ts";

/** Name of the application that both provide. */
export const PROVIDER = "hello-provider";

/** Their port. */
export const TRI_PORT = 50051;

/** An endpoint as it is written. */
export type EndpointConfig = string | Readonly<Record<string, unknown>>;

/** Two providers, each at an address of its own, which is what it answers. */
export class DubboSite implements AsyncDisposable {
  readonly pinnace: Pinnace;
  readonly #addresses: OwnAddresses;
  readonly #providers: readonly Dubbo[];
  #service: readonly ServiceConfig[];
  #others: readonly ServiceConfig[] = [];

  private constructor(
    pinnace: Pinnace,
    addresses: OwnAddresses,
    providers: readonly Dubbo[],
    service: readonly ServiceConfig[],
  ) {
    this.pinnace = pinnace;
    this.#addresses = addresses;
    this.#providers = providers;
    this.#service = service;
  }

  /** Starts all. */
  static async start(): Promise<DubboSite> {
    await using started = new AsyncDisposableStack();
    const addresses = started.use(await OwnAddresses.take(2));
    const service = [providerService(addresses.all)];
    const pinnace = started.use(await Pinnace.start(quick(service)));
    const providers = await Promise.all(addresses.all.map(async (host) => {
      return started.use(
        await startProvider({
          ...{ name: host, application: PROVIDER, host, port: TRI_PORT },
          ...{ metadata: METADATA_PORT, registry: registryOf(pinnace.address) },
        }),
      );
    }));
    started.move();
    return new DubboSite(pinnace, addresses, providers, service);
  }

  /** Where they are. */
  get addresses(): readonly [string, string] {
    return this.#addresses.all as [string, string];
  }

  /** The service has these endpoints from now on. */
  async endpoints(...endpoints: readonly EndpointConfig[]): Promise<void> {
    this.#service = [providerService(endpoints)];
    await this.#write();
  }

  /** The service is gone. */
  async without(): Promise<void> {
    this.#service = [];
    await this.#write();
  }

  /** These services are there, too. */
  async beside(...services: readonly ServiceConfig[]): Promise<void> {
    this.#others = services;
    await this.#write();
  }

  /** What Pinnace says by this rule. */
  async findings(rule: string): Promise<readonly string[]> {
    const { findings } = await this.pinnace.status() as Pick<Status, "findings">;
    return findings.filter((one) => one.rule === rule).map(({ message }) => message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const provider of this.#providers) await provider[Symbol.asyncDispose]();
    await this.pinnace[Symbol.asyncDispose]();
    await this.#addresses[Symbol.asyncDispose]();
  }

  async #write(): Promise<void> {
    await this.pinnace.write(quick([...this.#service, ...this.#others]));
  }
}

function providerService(endpoints: readonly EndpointConfig[]): ServiceConfig {
  return { name: PROVIDER, ports: [`${TRI_PORT}/GRPC`], endpoints };
}

/** Tests make one change after another and wait for each: no need to wait for further ones. */
function quick(services: readonly ServiceConfig[]) {
  return { services, push: { quiet: "10ms", guard: 1 }, watch: { poll: "1s" } };
}
