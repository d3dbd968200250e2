/**
 * What every failed assertion throws. The name is always `AssertionError`, which is what test
 * runners look at.
 */
export class AssertionError extends Error {
  /**
   * @param message what was expected and what came instead
   * @param options `cause`, when another error led here
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

/** Ends a generated message with the caller's own words, if there are any. */
export function withReason(text: string, reason?: string): string {
  return reason ? `${text}: ${reason}` : `${text}.`;
}
