/**
 * What the main thread and the worker that judges pushes say to each other. Everything here can be
 * posted: plain data and transferred buffers.
 *
 * @module
 */
import type { CollectionChange } from "../model/change.ts";
import type { Judgement, JudgeOptions, ReceivedResource } from "./received.ts";

/** To the worker: judge a push. */
export interface JudgeRequest {
  readonly kind: "judge";
  readonly id: number;
  /** The push; transferred. */
  readonly bytes: Uint8Array;
  readonly options: JudgeOptions;
}

/** From the worker. */
export type JudgeReply = JudgeAnswer | JudgeFailure;

/** What the push came to. */
export interface JudgeAnswer {
  readonly kind: "judged";
  readonly id: number;
  readonly judgement: PackedJudgement;
}

/** The worker failed in a way that it did not expect. */
export interface JudgeFailure {
  readonly kind: "failed";
  readonly id: number;
  readonly message: string;
}

type Accepted = Extract<Judgement, { readonly kind: "accepted" }>;

/** A judgement with one buffer for all its resources: ten thousand small ones would be copied each. */
export type PackedJudgement =
  | Exclude<Judgement, Accepted>
  | (Omit<Accepted, "resources" | "removed"> & {
    /** Its `kind` is empty where the judgement has none. */
    readonly change: CollectionChange;
    /** In the order of the change's names. */
    readonly told: readonly string[];
  });

/** A judgement, ready to be posted. */
export function packJudgement(judgement: Judgement): PackedJudgement {
  if (judgement.kind !== "accepted") return judgement;
  const { resources, removed, ...rest } = judgement;
  const lengths = resources.map(({ resource }) => resource.bytes.length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { resource } of resources) {
    bytes.set(resource.bytes, at);
    at += resource.bytes.length;
  }
  const change: CollectionChange = {
    kind: judgement.kindName ?? "",
    names: resources.map(({ resource }) => resource.name),
    versions: resources.map(({ resource }) => resource.version),
    lengths,
    bytes,
    removed,
  };
  return { ...rest, change, told: resources.map(({ told }) => told) };
}

/** Buffers of a packed judgement that can be transferred. */
export function buffersOf(judgement: PackedJudgement): ArrayBuffer[] {
  return judgement.kind === "accepted" ? [judgement.change.bytes.buffer as ArrayBuffer] : [];
}

/** The judgement again; the bytes of its resources are views of one buffer. */
export function unpackJudgement(packed: PackedJudgement): Judgement {
  if (packed.kind !== "accepted") return packed;
  const { change, told, ...rest } = packed;
  let at = 0;
  const resources = change.names.map((name, index): ReceivedResource => {
    const bytes = change.bytes.subarray(at, at += change.lengths[index]!);
    return { resource: { name, version: change.versions[index]!, bytes }, told: told[index]! };
  });
  return { ...rest, resources, removed: change.removed };
}
