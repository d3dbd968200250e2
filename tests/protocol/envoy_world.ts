/**
 * A world for tests of transitions: a state machine, a client and a network between them that delivers
 * late and in order, or breaks. After every step a request that reaches the client must find its way.
 */
import { assert, assertEquals } from "@std/assert";
import { xdsTypeByUrl, type XdsTypeName } from "../../lib/model/xds_type.ts";
import type { Push, StreamMachine } from "../../lib/protocol/stream.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { type Contents, snapshotOf } from "./fixtures.ts";
import type { EnvoyRequest } from "./model_envoy.ts";

/** Contents of all xds types by their abbreviations; routes name clusters and listeners routes that are there. */
export interface Config {
  readonly CDS: Contents;
  readonly EDS: Contents;
  readonly LDS: Contents;
  readonly RDS: Contents;
}

/** Something that happens. */
export type Happening =
  | { readonly do: "publish"; readonly config: Config }
  | { readonly do: "write" }
  | { readonly do: "to client"; readonly accept: boolean }
  | { readonly do: "to server" }
  | { readonly do: "reconnect" }
  | { readonly do: "expire" }
  | { readonly do: "rest" };

/** A client, as the world deals with it. */
export interface ModelClient {
  connect(): EnvoyRequest[];
  take(push: Push, accept: boolean): EnvoyRequest[];
  failure(excused: ReadonlySet<string>): string | undefined;
  versions(type: XdsTypeName): ReadonlyMap<string, string>;
  isAt(config: Config): boolean;
  checkRest(config: Config): void;
}

/** Steps after which a world must have come to rest. */
const PATIENCE = 1000;

/** The world. */
export class EnvoyWorld {
  readonly #make: (prefix: string) => StreamMachine<EnvoyRequest>;
  readonly #client: ModelClient;
  readonly #says: boolean;
  #said = false;
  #machine: StreamMachine<EnvoyRequest>;
  #config: Config = { CDS: {}, EDS: {}, LDS: {}, RDS: {} };
  #snapshot: Snapshot;
  #streams = 0;
  #toServer: EnvoyRequest[] = [];
  #toClient: Push[] = [];
  /** What a client that came back asks for first, as far as the server has not heard it. */
  #greeting = new Set<EnvoyRequest>();
  /** Whether the client may be without a way: until the next rest. */
  #excused = false;
  /** Clusters that it refused on this stream, or the endpoints of which; and those before the newest publication. */
  #refused = new Set<string>();
  #refusedBefore = new Set<string>();
  /** Whether it refused anything on this stream. */
  #refuses = false;

  /** `says`: whether the client, when it comes back, says what it holds. */
  constructor(
    client: ModelClient,
    make: (prefix: string) => StreamMachine<EnvoyRequest>,
    { says = false } = {},
  ) {
    this.#says = says;
    this.#client = client;
    this.#make = make;
    this.#snapshot = snapshotOf({ ...this.#config });
    this.#machine = this.#connect();
  }

  step(happening: Happening): void {
    switch (happening.do) {
      case "publish":
        this.#publish(happening.config);
        break;
      case "write":
        this.#write();
        break;
      case "to client":
        this.#toTheClient(happening.accept);
        break;
      case "to server":
        this.#toTheServer();
        break;
      case "reconnect":
        this.#machine = this.#connect();
        break;
      case "expire":
        this.#expire();
        break;
      case "rest":
        return this.rest();
    }
    this.#check();
  }

  /** Lets everything arrive; then the client holds just what is published and all its requests find their way. */
  rest(): void {
    this.#settle();
    if (this.#refuses) {
      // What was refused is held back on its stream; on another it is tried again.
      this.#machine = this.#connect();
      this.#settle();
    }
    this.#client.checkRest(this.#config);
    this.#excused = false;
    this.#check();
  }

  #check(): void {
    // Routes do not wait for what was refused before they came.
    const failure = this.#client.failure(this.#refusedBefore);
    if (failure !== undefined) assert(this.#excused, failure);
  }

  #publish(config: Config): void {
    this.#config = config;
    this.#refusedBefore = new Set(this.#refused);
    // That a client that comes back has routes is known only once it has asked for them.
    if (this.#greeting.size > 0 && !this.#said) this.#excused = true;
    this.#snapshot = snapshotOf({ ...config }, this.#snapshot);
    this.#machine.retarget(this.#snapshot);
  }

  #connect(): StreamMachine<EnvoyRequest> {
    // Who holds nothing has nothing to say.
    this.#said = this.#says && this.#client.versions("Cluster").size > 0;
    if (!this.#said && !this.#client.isAt(this.#config)) this.#excused = true;
    const machine = this.#make(`s${++this.#streams}-`);
    machine.retarget(this.#snapshot);
    this.#toClient = [];
    this.#refuses = false;
    this.#refused = new Set();
    this.#refusedBefore = new Set();
    this.#toServer = this.#client.connect();
    this.#greeting = new Set(this.#toServer);
    return machine;
  }

  #expire(): void {
    const { transition } = this.#machine;
    if (transition === undefined) return;
    this.#machine.expire!(transition.number);
    assertEquals(this.#machine.transition, undefined);
    this.#excused = true;
  }

  #write(): void {
    const push = this.#machine.next();
    if (push !== undefined) this.#toClient.push(push);
  }

  #toTheClient(accept: boolean): void {
    const push = this.#toClient.shift();
    if (push === undefined) return;
    if (!accept) this.#refuse(push);
    this.#toServer.push(...this.#client.take(push, accept));
  }

  #refuse({ type, content }: Push): void {
    this.#refuses = true;
    const { name } = xdsTypeByUrl(type)!;
    if (name !== "Cluster" && name !== "ClusterLoadAssignment") return;
    const held = this.#client.versions(name);
    for (const one of content.kind === "full" ? content.collection : content.diff.changed) {
      if (held.get(one.name) !== one.version) this.#refused.add(one.name);
    }
  }

  #toTheServer(): void {
    const request = this.#toServer.shift();
    if (request === undefined) return;
    this.#greeting.delete(request);
    const received = this.#machine.receive(request);
    assert(received.ok, received.ok ? "" : received.message);
  }

  #settle(): void {
    for (let steps = 0; steps < PATIENCE; steps++) {
      this.#write();
      const moving = this.#toClient.length + this.#toServer.length > 0;
      this.#toTheClient(true);
      this.#check();
      this.#toTheServer();
      if (moving) continue;
      if (this.#machine.transition === undefined) return;
      assert(
        this.#refuses,
        `stays at ${this.#machine.transition.phase}, though nothing was refused`,
      );
      this.#expire();
    }
    throw new Error(`not at rest after ${PATIENCE} steps`);
  }
}
