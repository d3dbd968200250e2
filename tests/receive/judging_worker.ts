/** A worker that judges pushes. */
import { startJudging } from "../../lib/receive/judge_thread.ts";

startJudging(self as never);
