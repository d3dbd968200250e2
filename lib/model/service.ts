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
  /**
   * It is being taken out of service: it gets no new requests, what it has goes on. Absent: it is in
   * service. Istio is not told of it at all; an Envoy gets it with health status DRAINING.
   */
  readonly drain?: true;
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
  /** Further names for clients that are served by xDS directly. */
  readonly aliases: readonly string[];
  /** Labels of the endpoints of each subset, by its name. Absent: none. */
  readonly subsets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Weights of subsets, by their names; each names one of `subsets`. Absent: traffic goes to all endpoints alike. */
  readonly split?: Readonly<Record<string, number>>;
  /** Localities (`region`, `region/zone` or `region/zone/subzone`), the preferred first; what is in none comes last. Absent: all alike. */
  readonly failover?: readonly string[];
  /** Share (0 to 1) of the endpoints in service below which those that drain are used as well. Absent: 0. */
  readonly minHealthy?: number;
}

/** A service and the file it was read from: what the snapshot keeps of it, as JSON. */
export interface ServiceRecord {
  /** Relative to the folder of the `--config` file (or to the `--config` folder), with `/`. */
  readonly file: string;
  readonly service: Service;
}
