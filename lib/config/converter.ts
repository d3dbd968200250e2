/**
 * What the loader needs of conversion. It is handed in, since configuration imports no conversion.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";

/** Turns services into resources. Pure: equal services give equal answers. */
export interface Converter {
  /**
   * The ServiceEntry of a service and what is to be said of it; no resource where a finding is an
   * error. Paths of findings start at the service.
   */
  readonly convertService: (
    service: Service,
  ) => { readonly resource?: Resource; readonly findings: readonly Finding[] };
  /** What services cannot both have; they are named by their indexes in the list. */
  readonly conflicts: (services: readonly Service[]) => readonly ServiceConflict[];
  /** Warnings about services that stand in each other's way; paths start at the service of this index. */
  readonly checkTogether: (
    services: readonly Service[],
  ) => readonly { readonly service: number; readonly finding: Finding }[];
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
