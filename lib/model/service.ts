/**
 * A service as the configuration says it, with every default filled in: the one form that
 * conversion, views and rules read, whichever of the short or long forms a person wrote.
 *
 * @module
 */

/** Istio's ServiceEntry.Location. */
export type Location = "MESH_EXTERNAL" | "MESH_INTERNAL";

/** Istio's ServiceEntry.Resolution. */
export type Resolution = "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS";

/** One port of a service. */
export interface ServicePort {
  readonly name: string;
  readonly number: number;
  /** Upper case, as Istio writes it: HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS, … */
  readonly protocol: string;
  /** Port of the endpoints, where it differs. */
  readonly targetPort?: number;
}

/** One endpoint of a service: a ServiceEntry's WorkloadEntry, plus what only Pinnace knows. */
export interface Endpoint {
  readonly address: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly locality: string;
  /** 1 or more; undefined means Istio's default. 0 was dropped, with a finding. */
  readonly weight?: number;
  readonly serviceAccount: string;
}

/** A service, normalised. */
export interface Service {
  readonly name: string;
  readonly namespace: string;
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly location: Location;
  readonly resolution: Resolution;
  readonly endpoints: readonly Endpoint[];
  /** Selects WorkloadEntries or pods by label, in place of `endpoints`. */
  readonly workloadSelector?: Readonly<Record<string, string>>;
  readonly exportTo: readonly string[];
  readonly subjectAltNames: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly aliases: readonly string[];
}

/** A service and the file it was read from: what the snapshot keeps of it, as JSON. */
export interface ServiceRecord {
  /** Relative to the folder of the `--config` file (or to the `--config` folder), with `/`. */
  readonly file: string;
  readonly service: Service;
}
