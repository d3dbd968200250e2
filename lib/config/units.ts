/**
 * Durations and sizes as a person writes them.
 *
 * @module
 */

const DURATION_UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5, the micro sign
  μs: 1e-3, // U+03BC, the Greek letter, which Go takes as well
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** A duration in Go's form without a sign: `0`, `100ms`, `1.5s`, `1h30m`. */
export const DURATION_PATTERN = /^(?:0|(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** A size: a number and `B`, `KiB`, `MiB` or `GiB`. */
export const SIZE_PATTERN = /^\d+(?:\.\d+)?(?:B|KiB|MiB|GiB)$/;

/** Milliseconds of a duration in Go's form; undefined where `text` is none. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION_PATTERN.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(number) * DURATION_UNITS[unit!]!;
  }
  return total;
}

/** Bytes of a size such as `32MiB`, rounded down; undefined where `text` is none. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/.exec(text);
  return match === null ? undefined : Math.floor(Number(match[1]) * SIZE_UNITS[match[2]!]!);
}

/** A number of bytes for people: `32 MiB`, `1.5 KiB`, `12 bytes`. */
export function formatSize(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const value = bytes / SIZE_UNITS[unit]!;
    if (value >= 1) return `${Number(value.toFixed(1))} ${unit}`;
  }
  return `${bytes} bytes`;
}
