/**
 * The services that every server has beside what it is for: health and reflection, and, where there
 * are clients, what each of them holds.
 *
 * @module
 */
import { addClientStatus, type ClientStatusOptions } from "./client_status.ts";
import { addHealth } from "./health_service.ts";
import { addReflection } from "./reflection_service.ts";
import type { Sender } from "./sender.ts";
import type { PushServer } from "./server.ts";
import type { ServingState } from "./serving_state.ts";

/** What the side services work with. */
export interface SideServicesOptions {
  /** Whether there is something to serve; to be set to false before the server drains. */
  readonly state: ServingState;
  readonly sender: Sender;
  /** The clients whose status is told, to this machine alone. Absent: the server has none. */
  readonly clients?: Omit<ClientStatusOptions, "sender">;
}

/**
 * Adds gRPC health, reflection and, where there are clients, ClientStatusDiscoveryService. The first two
 * tell of every service on the server, whenever it was added.
 */
export function addSideServices(server: PushServer, options: SideServicesOptions): void {
  const { state, sender, clients } = options;
  addHealth(server, state);
  addReflection(server, sender);
  if (clients !== undefined) addClientStatus(server, { sender, ...clients });
}
