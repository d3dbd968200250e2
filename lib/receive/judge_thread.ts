/**
 * The worker's side of judging: takes pushes, answers with judgements.
 *
 * @module
 */
import { judge } from "./judge.ts";
import { buffersOf, type JudgeReply, type JudgeRequest, packJudgement } from "./judge_messages.ts";

/** What is used of a worker's global scope. */
export interface JudgeScope {
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  postMessage(message: JudgeReply, transfer: Transferable[]): void;
}

/**
 * Answers the {@link JudgeRequest}s that come to this worker's scope, for ever; other messages are
 * somebody else's. To be called once, at the start of a worker.
 */
export function startJudging(scope: JudgeScope): void {
  scope.addEventListener("message", ({ data }: MessageEvent<{ readonly kind: string }>) => {
    if (data.kind === "judge") answer(scope, data as JudgeRequest);
  });
}

function answer(scope: JudgeScope, { id, bytes, options }: JudgeRequest): void {
  try {
    const judgement = packJudgement(judge(bytes, options));
    scope.postMessage({ kind: "judged", id, judgement }, buffersOf(judgement));
  } catch (error) {
    const message = error instanceof Error ? error.stack ?? error.message : String(error);
    scope.postMessage({ kind: "failed", id, message }, []);
  }
}
