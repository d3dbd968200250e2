/**
 * The clients that are recorded: each started so that it asks a relay for everything.
 *
 * @module
 */
import { Envoy } from "../lib/envoy.ts";
import { Istiod } from "../lib/istiod.ts";

/** A client that can be recorded. */
export interface RecordedClient {
  /** Start of the name of its transcript's file. */
  readonly file: string;
  /** Program and version, for people. */
  readonly name: string;
  /** Starts it; resolves once it has asked. */
  start(address: string): Promise<AsyncDisposable>;
}

/** An Envoy that says who it is and opens listeners as it is told. */
function envoy(delta: boolean): RecordedClient {
  return {
    file: "envoy",
    name: "Envoy 1.40.0",
    start: (ads) => Envoy.start({ ads, delta, id: "recorded" }),
  };
}

/** Every client. */
export const CLIENTS: readonly RecordedClient[] = [
  envoy(false),
  envoy(true),
  {
    file: "istiod",
    name: "istiod (istio.io/istio of 2026-08-27)",
    start: (address) => Istiod.start(address),
  },
];
