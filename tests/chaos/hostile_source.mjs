// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * Sources that dial a ResourceSink and break every rule of MCP: node hostile_source.mjs --port P
 * --seconds S --seed N --limit BYTES [--tls FOLDER,…]. With folders they come over TLS, each with the
 * certificate of one of them. Prints a JSON line at the end; exits 1 if the receiver stopped accepting.
 */
import fs from "node:fs";
import net from "node:net";
import { push, resource, serviceEntry, VIRTUAL_SERVICES, virtualService } from "./mcp_messages.mjs";
import { hostileSessions, TRIGGER } from "./hostile_session.mjs";
import { grpcFrame, options, seeded, sleep } from "./random.mjs";

const PARALLEL = 10;
const REFUSED_MEANS_DOWN = 50;
const { port, seconds, seed, limit, tls: folder, victims } = options({
  port: 0,
  seconds: 15,
  seed: 1,
  limit: 16 * 1024 * 1024,
  tls: "",
  victims: "edge-a,edge-b",
});
const random = seeded(seed);
const counts = {};
const seen = { refused: 0, acks: 0, nacks: 0, asked: 0, statuses: {}, errors: {} };
const identities = (folder === "" ? [] : folder.split(",")).map((path) => ({
  cert: fs.readFileSync(`${path}/tls.crt`),
  key: fs.readFileSync(`${path}/tls.key`),
  ca: fs.readFileSync(`${path}/ca.crt`),
}));

const onError = (error) => {
  if (error?.code === "ECONNREFUSED") seen.refused++;
  const code = error?.code ?? String(error);
  seen.errors[code] = (seen.errors[code] ?? 0) + 1;
  // Faults of this program itself must not pass for abuse.
  if (error instanceof TypeError && error.code === undefined) throw error;
};

const LABEL = () => `r${random.below(1e9)}`;
const entry = (name, host = `${name}.hostile.example.com`) =>
  resource(`hostile/${name}`, serviceEntry(host, "192.0.2.9", LABEL()), { version: LABEL() });
const few = () => Array.from({ length: 5 }, (_, i) => entry(`own-${i}`));
let nonces = 0;
const framed = (parts) => grpcFrame(push({ nonce: `n${++nonces}`, version: LABEL(), ...parts }));

/** Made once: to make them takes longer than to send them. */
const LARGEST = (() => {
  const size = limit - 2048;
  const whole = resource("hostile/large", virtualService("x.hostile.example.com", size));
  const valid = push({ collection: VIRTUAL_SERVICES, nonce: "large", resources: [whole] });
  if (valid.length > limit) throw new Error(`${valid.length} bytes are more than ${limit}`);
  const one = resource("hostile/NOT_A_NAME", serviceEntry("x.example.com"));
  const many = Math.floor(size / (one.length + 4));
  const invalid = push({ nonce: "large", resources: Array.from({ length: many }, () => one) });
  return { valid: grpcFrame(valid), invalid: grpcFrame(invalid) };
})();

const { session, open, flood } = hostileSessions({ port, identities, random, seen, onError });

/** Large sets are of one name, since what a source gave is kept. */
const large = () => ({
  headers: { "x-pinnace-instance": "hostile-large" },
  identity: identities[0],
});
const own = () => ({ "x-pinnace-instance": `hostile-${random.below(40)}` });
const WEIRD = [
  "a\u0000b",
  "\u001b[31mred",
  "a\nb",
  "\u202egnp.a",
  "../../etc/passwd",
  "%00",
  "a/b/c",
  "",
  "/",
];
const INVALID = [
  () => resource("hostile/NOT_A_NAME", serviceEntry("x.example.com")),
  () => resource("fra/not-ours", serviceEntry("x.example.com")),
  () => resource("hostile/no-hosts", { type: "ServiceEntry", value: Buffer.alloc(0) }),
  () => resource("hostile/garbage", { type: "ServiceEntry", value: random.bytes(40) }),
  () => resource("hostile/other", { type: "NoSuchType", value: Buffer.alloc(0) }),
  () => resource("hostile/bad-ip", serviceEntry("x.example.com", "999.1.1.1/33")),
  () =>
    resource("hostile/labels", serviceEntry("x.example.com"), { labels: { "no key": "\u0001" } }),
];

/** An act on a session and stream of its own. */
const withStream = (act, options = () => ({ headers: own() })) => async () => {
  const { identity, ...how } = options();
  const s = session(identity);
  try {
    await act(open(s, how), s);
    await sleep(30);
  } finally {
    s.destroy();
  }
};

const ACTS = {
  randomBytes: withStream((stream) =>
    flood(stream, 100, () => grpcFrame(random.bytes(random.below(300))))
  ),
  notEvenFrames: withStream((stream) => flood(stream, 60, () => random.bytes(random.below(300)))),
  invalidInALoop: withStream((stream) =>
    flood(stream, 600, () => framed({ resources: [random.pick(INVALID)()] }))
  ),
  /** Waits for answers, as the protocol wants it, but sends the same again at once. */
  invalidAfterEachAnswer: async () => {
    const s = session();
    const bad = () => framed({ resources: [...few(), random.pick(INVALID)()] });
    const stream = open(s, {
      headers: own(),
      answered: ({ nack }) => nack && !stream.destroyed && stream.write(bad()),
    });
    stream.write(bad());
    await sleep(1500);
    s.destroy();
  },
  sameForEver: withStream((stream) => {
    const same = framed({ resources: few() });
    return flood(stream, 600, () => same);
  }),
  /** Keeps the protocol, and changes all it has at each ACK. */
  changesAtEachAck: async () => {
    const s = session();
    const stream = open(s, {
      headers: own(),
      answered: ({ nonce }) =>
        nonce && !stream.destroyed && stream.write(framed({ resources: few() })),
    });
    stream.write(framed({ resources: few() }));
    await sleep(1500);
    s.destroy();
  },
  largestValid: withStream(async (stream) => {
    stream.write(LARGEST.valid);
    await sleep(3000);
  }, large),
  largestInvalid: withStream(async (stream) => {
    stream.write(LARGEST.invalid);
    await sleep(3000);
  }),
  /** Fills whatever may wait to be judged. */
  manyLargest: withStream((stream) => flood(stream, 1000, () => LARGEST.valid), large),
  tooLarge: withStream(async (stream) => {
    stream.write(grpcFrame(Buffer.alloc(limit + 1)));
    await sleep(300);
  }),
  manyStreams: async () => {
    const s = session();
    for (let i = 0; i < 100; i++) open(s, { headers: own() }).write(framed({ resources: few() }));
    await sleep(200);
    s.destroy();
  },
  /** As many names as there can be. */
  manyNames: async () => {
    const s = session();
    for (let i = 0; i < 50; i++) {
      const headers = { "x-pinnace-instance": `h-${random.below(1e9).toString(36)}` };
      open(s, { headers }).write(framed({}));
    }
    await sleep(200);
    s.destroy();
  },
  replaceOneAnother: async () => {
    const headers = { "x-pinnace-instance": "hostile-twin" };
    const all = Array.from({ length: 8 }, () => session());
    for (const s of all) {
      open(s, { headers }).write(framed({ resources: few() }));
      await sleep(random.below(20));
    }
    await sleep(50);
    for (const s of all) s.destroy();
  },
  otherNames: async () => {
    const s = session();
    for (const victim of victims.split(",")) {
      const claims = [
        { "x-pinnace-instance": victim },
        { "x-pinnace-instance": `spiffe://example.org/edge/${victim}` },
        { "x-pinnace-instance": victim, authorization: `Bearer ${random.below(1e9)}` },
        { "x-pinnace-instance": random.pick(["../../etc/passwd", "127.0.0.1", "a b", "-", "%00"]) },
        { "x-forwarded-client-cert": `URI=spiffe://example.org/edge/${victim}`, ...own() },
      ];
      // It would empty what the other has, were it taken for it.
      for (const headers of claims) open(s, { headers }).write(framed({ resources: [] }));
    }
    await sleep(80);
    s.destroy();
  },
  triggersInALoop: withStream((stream) => flood(stream, 400, () => TRIGGER)),
  readNothing: withStream(
    async (stream) => {
      for (let i = 0; i < 40; i++) stream.write(framed({ resources: few() }));
      await flood(stream, 400, () => random.pick([TRIGGER, framed({ collection: "x/y/z" })]));
      await sleep(500);
    },
    () => ({ headers: own(), read: false }),
  ),
  halfAMessageAndSilence: withStream(async (stream) => {
    const whole = framed({ resources: few() });
    stream.write(whole.subarray(0, 1 + random.below(whole.length - 1)));
    await sleep(1500);
  }),
  closeMidMessage: withStream(async (stream, s) => {
    const whole = random.chance(0.2) ? LARGEST.valid : framed({ resources: few() });
    stream.write(whole.subarray(0, whole.length >> 1)); // so it is never taken
    await sleep(random.below(60));
    if (random.chance(0.5)) s.destroy();
    else stream.end();
  }),
  resets: withStream(async (stream, s) => {
    for (let i = 0; i < 30; i++) {
      const another = open(s, { headers: own() });
      another.write(framed({ resources: few() }));
      setTimeout(() => another.close(random.below(14)), random.below(20));
    }
    await sleep(60);
    stream.close(8);
  }),
  wrongNonces: withStream((stream) => {
    const NONCES = ["", "same", "n".repeat(2000), "\u0000", "n1"];
    return flood(stream, 300, () => framed({ resources: few(), nonce: random.pick(NONCES) }));
  }),
  manyCollections: withStream(async (stream) => {
    for (let i = 0; i < 1000 && !stream.destroyed; i++) {
      stream.write(framed({ collection: `istio/nothing/v${i}/things`, resources: few() }));
      if (i % 10 === 0) await sleep(1);
    }
  }),
  removedUnknown: withStream(async (stream) => {
    const removed = Array.from({ length: 10_000 }, () => `hostile/gone-${random.below(1e9)}`);
    stream.write(framed({ incremental: true, removed, resources: few() }));
    await sleep(300);
  }),
  weirdNames: withStream((stream) =>
    flood(stream, 300, () => {
      const text = random.pick(WEIRD);
      return random.pick([
        () => framed({ resources: [resource(`hostile/${text}`, serviceEntry("x.example.com"))] }),
        () => framed({ resources: [resource(text, serviceEntry(text))], version: text }),
        () => framed({ collection: text, resources: few() }),
        () => framed({ incremental: true, removed: [text, `hostile/${text}`] }),
        () => framed({ resources: few(), nonce: text, version: text }),
      ])();
    })
  ),
  goawayAndPings: withStream(async (stream, s) => {
    for (let i = 0; i < 5; i++) s.ping(() => {});
    s.goaway(random.below(3), 0);
    await flood(stream, 50, () => framed({ resources: few() }));
  }),
  resetSocket: async () => {
    const socket = net.connect({ port, host: "127.0.0.1", localAddress: "127.0.0.9" });
    socket.on("error", onError);
    await sleep(random.below(10));
    socket.resetAndDestroy();
  },
};

const end = Date.now() + seconds * 1000;
const names = Object.keys(ACTS);

async function worker() {
  while (Date.now() < end && seen.refused < REFUSED_MEANS_DOWN) {
    const name = random.pick(names);
    counts[name] = (counts[name] ?? 0) + 1;
    try {
      await ACTS[name]();
    } catch (error) {
      onError(error);
    }
  }
}
await ACTS.largestValid(); // so that later rounds keep no more than the first
await Promise.all(Array.from({ length: PARALLEL }, worker));
const actions = Object.values(counts).reduce((sum, n) => sum + n, 0);
console.log(JSON.stringify({ seed, actions, ...seen, counts }));
process.exit(seen.refused >= REFUSED_MEANS_DOWN ? 1 : 0);
