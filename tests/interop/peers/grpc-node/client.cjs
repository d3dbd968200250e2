/**
 * gRPC client of grpc-js-xds, driven by lines on standard input; see ../../lib/grpc_client.ts. It knows
 * nothing but what GRPC_XDS_BOOTSTRAP says and the targets that it is told.
 */
const { createInterface } = require("node:readline");
const grpc = require("@grpc/grpc-js");
const { register } = require("@grpc/grpc-js-xds");

const METHOD = "/pinnace.interop.Echo/Say";
const DEADLINE = 30_000;

register();

const asIs = (bytes) => bytes;
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

/** What became of calls since it was last taken. */
class Tally {
  #answers = {};
  #failures = [];
  #unfinished = 0;
  #settled = () => {};

  started() {
    this.#unfinished++;
  }

  finished(error, answer) {
    this.#unfinished--;
    if (error) {
      this.#failures.push(`${grpc.status[error.code]}: ${error.details}`);
    } else {
      const name = answer.toString();
      this.#answers[name] = (this.#answers[name] ?? 0) + 1;
    }
    if (this.#unfinished === 0) this.#settled();
  }

  async settled() {
    if (this.#unfinished > 0) await new Promise((resolve) => this.#settled = resolve);
  }

  take(event) {
    const taken = {
      event,
      answers: this.#answers,
      failures: this.#failures,
      unfinished: this.#unfinished,
    };
    [this.#answers, this.#failures] = [{}, []];
    return taken;
  }
}

const clients = new Map();
const tally = new Tally();
let timer;

function begin(target, hold, tally) {
  let client = clients.get(target);
  if (client === undefined) {
    client = new grpc.Client(target, grpc.credentials.createInsecure());
    clients.set(target, client);
  }
  tally.started();
  const deadline = Date.now() + DEADLINE;
  client.makeUnaryRequest(METHOD, asIs, asIs, Buffer.from(hold), { deadline }, (error, answer) => {
    tally.finished(error, answer);
  });
}

const commands = {
  async call(target, count, hold) {
    const own = new Tally();
    for (let i = 0; i < Number(count); i++) {
      begin(target, hold, own);
      await own.settled();
    }
    say(own.take("called"));
  },
  start(target, every, hold) {
    timer = setInterval(() => begin(target, hold, tally), Number(every));
    say({ event: "started" });
  },
  report() {
    say(tally.take("report"));
  },
  async stop() {
    clearInterval(timer);
    await tally.settled();
    say(tally.take("stopped"));
  },
};

async function main() {
  say({ event: "ready" });
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...words] = line.trim().split(/\s+/);
    if (!Object.hasOwn(commands, name)) throw new Error(`no such command: ${line}`);
    await commands[name](...words);
  }
  process.exit(0);
}

main();
