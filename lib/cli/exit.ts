/** Exit codes of every command: fine; findings or failure; the command line itself is wrong. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;
