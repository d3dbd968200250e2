/**
 * Regular expressions as clients of RE2 take them: gRPC programs and Envoy.
 *
 * @module
 */

/** Letters and digits that may follow a backslash in RE2. */
const ESCAPES = /^[afnrtvdDsSwWbBAzpPx0]$/;
/** How a group may begin: plain, not captured, with flags. */
const GROUP = /^\((?!\?)|^\(\?[imsU]*(?:-[imsU]+)?:|^\(\?[imsU]*(?:-[imsU]+)?\)/;
/** RE2 repeats nothing more often. */
const MAX_REPEAT = 1000;

/**
 * The expression in RE2's syntax, so that every client takes it; undefined where it is none. One that a
 * client cannot compile would cost more than its route: grpc-go and grpc-java refuse the whole
 * RouteConfiguration, and grpc-js throws within the program.
 */
export function re2Pattern(text: string): string | undefined {
  const plain = unnamed(text);
  if (!hasOnlyRe2Syntax(plain)) return undefined;
  try {
    new RegExp(comparable(plain));
  } catch {
    return undefined;
  }
  // grpc-js-xds puts the expression between `^` and `$` as it is.
  return plain.includes("|") ? `(?:${plain})` : plain;
}

/** Whether the whole text fits an expression that {@link re2Pattern} gave. */
export function fitsPattern(text: string, pattern: string): boolean {
  // Of flags only the one for letters makes a difference to a text of one line.
  const flags = /\(\?[msU]*i/.test(pattern) ? "i" : "";
  return new RegExp(`^(?:${comparable(pattern)})$`, flags).test(text);
}

/** Names of groups mean nothing where a text only fits or not, and are written in more ways than one. */
function unnamed(text: string): string {
  return text.replace(/\(\?P?<[A-Za-z_]\w*>/g, "(");
}

function hasOnlyRe2Syntax(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\\") {
      const escaped = text[++at];
      if (escaped === undefined) return false;
      if (/[A-Za-z0-9]/.test(escaped) && !ESCAPES.test(escaped)) return false;
    } else if (letter === "[") {
      const end = classEnd(text, at);
      if (end === undefined) return false;
      at = end;
    } else if (letter === "(" && !GROUP.test(text.slice(at, at + 16))) return false;
  }
  return !repeatsTooMuch(text);
}

/** Where the class ends that begins here; undefined: nowhere, or it has an escape that RE2 lacks. */
function classEnd(text: string, from: number): number | undefined {
  // A bracket that comes first stands for itself.
  let at = text[from + 1] === "^" ? from + 2 : from + 1;
  for (const first = at; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\\") {
      const escaped = text[++at] ?? "";
      if (/[A-Za-z0-9]/.test(escaped) && !ESCAPES.test(escaped)) return undefined;
    } else if (letter === "[" && text[at + 1] === ":") {
      const end = text.indexOf(":]", at + 2);
      if (end < 0) return undefined;
      at = end + 1;
    } else if (letter === "]" && at > first) return at;
  }
  return undefined;
}

function repeatsTooMuch(text: string): boolean {
  for (const [, from, to] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    if (Number(from) > MAX_REPEAT || Number(to ?? 0) > MAX_REPEAT) return true;
  }
  return false;
}

/** As JavaScript writes it, as far as it must be to tell whether it can be compiled. */
function comparable(text: string): string {
  return text
    .replace(/\(\?[imsU]*(?:-[imsU]+)?:/g, "(?:")
    .replace(/\(\?[imsU]*(?:-[imsU]+)?\)/g, "")
    .replace(/\[:\^?[a-z]+:\]/g, "a-z");
}
