/**
 * What streams of sources need of whoever keeps the sets of sources.
 *
 * @module
 */
import type { Judgement } from "../receive/received.ts";
import type { SourceConnection, SourceRegistry } from "../receive/registry.ts";

export type { SourceConnection, SourceIntroduction, SourceRegistry } from "../receive/registry.ts";

/** A push that can be taken. */
export type AcceptedPush = Extract<Judgement, { readonly kind: "accepted" }>;

/** A push that cannot. */
export type RefusedPush = Extract<Judgement, { readonly kind: "refused" }>;

/** Whether a registry let a source in. */
export function isConnection(
  answer: ReturnType<SourceRegistry["connect"]>,
): answer is SourceConnection {
  return typeof answer.refused !== "string";
}
