/**
 * Istio's objects, package `istio.networking.v1alpha3`.
 *
 * @module
 */
import type { StringMap } from "./common.ts";

/** `istio.networking.v1alpha3.ServiceEntry`. */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly ports: readonly ServiceEntryPort[];
  readonly location: "MESH_EXTERNAL" | "MESH_INTERNAL" | number;
  readonly resolution: "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS" | number;
  readonly endpoints: readonly WorkloadEntry[];
  readonly exportTo: readonly string[];
  readonly subjectAltNames: readonly string[];
  readonly workloadSelector?: WorkloadSelector;
}

/** `istio.networking.v1alpha3.ServicePort`. */
export interface ServiceEntryPort {
  readonly number: number;
  readonly protocol: string;
  readonly name: string;
  /** 0: the same as `number`. */
  readonly targetPort: number;
}

/** `istio.networking.v1alpha3.WorkloadEntry`. */
export interface WorkloadEntry {
  readonly address: string;
  readonly ports: StringMap<number>;
  readonly labels: StringMap;
  readonly network: string;
  readonly locality: string;
  readonly weight: number;
  readonly serviceAccount: string;
}

/** `istio.networking.v1alpha3.WorkloadSelector`. */
export interface WorkloadSelector {
  readonly labels: StringMap;
}
