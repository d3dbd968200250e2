/**
 * What several messages of Envoy's are made of: sources, extensions, shares.
 *
 * @module
 */
import type { Any, Duration, NoSettings, Wrapped } from "./common.ts";

/** `envoy.config.core.v3.ConfigSource`: at most one of `ads` and `self`. */
export interface ConfigSource {
  readonly ads?: NoSettings;
  readonly self?: { readonly transportApiVersion: ApiVersion };
  readonly initialFetchTimeout?: Duration;
  readonly resourceApiVersion: ApiVersion;
}

/** `envoy.config.core.v3.ApiVersion`. */
export type ApiVersion = "AUTO" | "V2" | "V3" | number;

/** A named extension, as filters of all kinds are: `envoy.config.listener.v3.Filter` and its like. */
export interface NamedExtension {
  readonly name: string;
  readonly typedConfig?: Any;
}

/** `envoy.config.core.v3.CidrRange`. */
export interface CidrRange {
  readonly addressPrefix: string;
  readonly prefixLen?: Wrapped<number>;
}

/** `envoy.type.v3.Percent`. */
export interface Percent {
  /** 0 to 100. */
  readonly value: number;
}

/** `envoy.type.v3.FractionalPercent`. */
export interface FractionalPercent {
  readonly numerator: number;
  readonly denominator: "HUNDRED" | "TEN_THOUSAND" | "MILLION" | number;
}
