/**
 * What the loader needs of conversion. It is handed in, since configuration imports no conversion.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { OwnKind } from "../model/own_names.ts";
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";

/** Turns services into resources. Pure: equal services give equal answers. */
export interface Converter {
  /**
   * The objects that a service becomes and what is to be said of it; no object where a finding is an
   * error. Paths of findings start at the service.
   */
  readonly convertService: (
    service: Service,
  ) => { readonly resources: readonly OwnResource[]; readonly findings: readonly Finding[] };
  /** What services cannot both have; they are named by their indexes in the list. */
  readonly conflicts: (services: readonly Service[]) => readonly ServiceConflict[];
  /** Warnings about services that stand in each other's way; paths start at the service of this index. */
  readonly checkTogether: (
    services: readonly Service[],
  ) => readonly { readonly service: number; readonly finding: Finding }[];
}

/** An object that a service becomes. */
export interface OwnResource {
  readonly kind: OwnKind;
  readonly resource: Resource;
}

/** Something that several services claim. */
export interface ServiceConflict {
  readonly rule: string;
  /** What they claim, for example a host. */
  readonly what: string;
  /** The services, as indexes into the list given; two or more. */
  readonly services: readonly number[];
  readonly message: string;
}
