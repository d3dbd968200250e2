/**
 * JSON for terminals.
 *
 * @module
 */

/** JSON that a terminal can be shown: what it would act on is escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) =>
      Array.from(
        { length: c.length },
        (_, at) => `\\u${c.charCodeAt(at).toString(16).padStart(4, "0")}`,
      ).join(""),
  );
}
