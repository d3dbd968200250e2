/**
 * Judges a push of another source: all of it is taken, or none.
 *
 * @module
 */
import type { RuleInfo } from "../convert/rules/rule.ts";
import type { Finding } from "../model/finding.ts";
import { isTrigger } from "../model/kind.ts";
import { WireError } from "../wire/wire_error.ts";
import { judgeResource, subjectOf } from "./judge_resource.ts";
import { type Push, readPush } from "./read_push.ts";
import type { Judgement, JudgeOptions, ReceivedResource } from "./received.ts";
import { describeFinding, Verdict } from "./verdict.ts";

/** Rules for what other sources send; besides these, Istio's own (`istio/*`) refuse a push, and ours (`pinnace/*`) warn. */
export const RECEIVE_RULES: readonly RuleInfo[] = [
  "receive/body",
  "receive/duplicate",
  "receive/kind",
  "receive/label",
  "receive/name",
  "receive/namespace",
  "receive/resource",
].map((id) => ({ id, severity: "error" }));

/**
 * Reads and checks a push, and encodes its resources anew. Pure: neither keeps nor changes `bytes`, but
 * the resources accepted are copies.
 *
 * A push that is to make a sink speak (`head.type` is `$triggerCollection`, or empty as sources before
 * April 2019 had it; MCP only) is accepted without a kind and its resources are not looked at: whoever
 * answers looks at `head.type`. So is an empty push of a type that is unknown here; one with resources
 * is refused.
 */
export function judge(bytes: Uint8Array, options: JudgeOptions): Judgement {
  let push: Push;
  try {
    push = readPush(bytes, options.protocol);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { kind: "unreadable", message: error.message };
  }
  const { head, kind } = push;
  if (kind === undefined) return judgeUnknown(push, options);
  const verdict = new Verdict();
  const resources: ReceivedResource[] = [];
  const names = new Names(push.removed);
  for (const item of push.items) {
    const { received, findings } = judgeResource(item, { ...options, kind });
    verdict.add([...findings, ...names.claim(item.resource?.metadata?.name)]);
    if (received !== undefined) resources.push(received);
  }
  if (verdict.isRefused) {
    const message = verdict.message(push.count);
    return { kind: "refused", head, findings: verdict.errors, message };
  }
  const { removed } = push;
  return {
    kind: "accepted",
    head,
    kindName: kind.kind,
    resources,
    removed,
    findings: verdict.warnings,
  };
}

/** A push of no kind that we know. */
function judgeUnknown(push: Push, { protocol }: JudgeOptions): Judgement {
  const { head } = push;
  const triggers = protocol === "mcp" && isTrigger(head.type);
  if (push.count > 0 && !triggers) return refuseKind(push);
  const nothing = { resources: [], removed: [], findings: [] };
  return { kind: "accepted", head, kindName: undefined, ...nothing };
}

function refuseKind({ head, count }: Push): Judgement {
  const finding: Finding = {
    severity: "error",
    rule: "receive/kind",
    message: "resources of this type are not taken",
    hint: "only Istio's own types are",
    subject: head.type === "" ? "a type without a name" : subjectOf(head.type),
  };
  const message = `all resources refused (${count}): ${describeFinding(finding)}`;
  return { kind: "refused", head, findings: [finding], message: message.toWellFormed() };
}

/** Names of a push, each for one resource only. */
class Names {
  readonly #removed: ReadonlySet<string>;
  readonly #taken = new Set<string>();

  constructor(removed: readonly string[]) {
    this.#removed = new Set(removed);
  }

  claim(name: string | undefined): readonly Finding[] {
    if (name === undefined || name === "") return [];
    const isTaken = this.#taken.has(name);
    this.#taken.add(name);
    if (!isTaken && !this.#removed.has(name)) return [];
    return [{
      severity: "error",
      rule: "receive/duplicate",
      message: isTaken
        ? "two resources of the push have this name"
        : "the push both holds and removes the resource",
      hint: isTaken ? "send each once" : "send it, or remove it",
      subject: subjectOf(name),
    }];
  }
}
