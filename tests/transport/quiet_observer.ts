/**
 * An observer of sessions that does nothing; tests replace what they look at.
 *
 * @module
 */
import type { SessionObserver } from "../../lib/transport/session.ts";

export const quietObserver: SessionObserver = {
  opened() {},
  sent() {},
  event() {},
  cut() {},
  paced() {},
  overdue() {},
  closed() {},
};
