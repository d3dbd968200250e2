/**
 * One attempt to open a stream that is given up when it takes too long, whatever it waits for.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import type { PushStream } from "./push_stream.ts";
import { untilAborted } from "./until_aborted.ts";

/** When an attempt is given up. */
export interface DialInTimeOptions {
  /** How long it may take. Milliseconds. */
  readonly deadline: number;
  readonly clock: Clock;
  /** Ends the attempt, or the stream that came of it. */
  readonly signal: AbortSignal;
}

/**
 * Opens a stream with `dial`, whose signal ends the attempt at the deadline and what came of it with
 * `signal`. Rejects with what `dial` does, with the reason of `signal`, or with an error that names the
 * deadline; a stream that comes of it later is ended.
 */
export async function dialInTime(
  dial: (signal: AbortSignal) => Promise<PushStream>,
  { deadline, clock, signal }: DialInTimeOptions,
): Promise<PushStream> {
  const late = new AbortController();
  const inTime = new AbortController();
  clock.sleep(deadline, inTime.signal).then(() => {
    if (inTime.signal.aborted) return;
    late.abort(new Error(`no connection within ${deadline / 1000} s`));
  });
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const dialled = dial(either);
    dialled.then((stream) => {
      if (either.aborted) stream.end({ code: "CANCELLED", message: "too late" });
    }, () => {});
    return await untilAborted(dialled, either);
  } finally {
    inTime.abort(); // else the deadline would end the stream that was opened in time
  }
}
