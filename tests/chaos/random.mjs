/** Random numbers from a seed, so that a run can be repeated. */
export function seeded(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** An integer from 0 up to, not including, `n`. */
    below: (n) => Math.floor(next() * n),
    chance: (p) => next() < p,
    pick: (items) => items[Math.floor(next() * items.length)],
    bytes: (n) => Buffer.from(Array.from({ length: n }, () => Math.floor(next() * 256))),
  };
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `--name value` pairs of the command line. */
export function options(defaults) {
  const out = { ...defaults };
  for (let i = 2; i < process.argv.length; i += 2) {
    const name = process.argv[i].replace(/^--/, "");
    const value = process.argv[i + 1];
    out[name] = typeof defaults[name] === "number" ? Number(value) : value;
  }
  return out;
}

/** A gRPC message frame. */
export function grpcFrame(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
