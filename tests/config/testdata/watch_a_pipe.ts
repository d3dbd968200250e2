/**
 * Watches a folder in which a FIFO appears, as a process of its own, since this may hang. Arguments: the
 * folder; `thread` or `worker`: where it watches; milliseconds between polls. Says `loaded NAMES` at each load, `ticks` while its
 * main thread is alive, and `closed` when it is done.
 *
 * @module
 */
import { ConfigReader } from "../../../lib/config/load.ts";
import { ConfigWatcher } from "../../../lib/config/watch.ts";
import { watchInWorker } from "../../../lib/config/watch_worker.ts";
import { PLAIN_CONVERTER } from "./plain_converter.ts";

const [folder, where, poll] = Deno.args as [string, string, string];
const createWorker = () =>
  new Worker(new URL("./watching_worker.ts", import.meta.url), { type: "module" });
const reader = new ConfigReader(`${folder}/c.yaml`, {
  converter: PLAIN_CONVERTER,
  hostName: "test",
});

// deno-lint-ignore no-console
const say = (text: string) => console.log(text);

const load = () => {
  watcher.update(reader.load().watch);
  say(`loaded ${reader.services.map(({ service }) => service.name)}`);
};
const watcher = new ConfigWatcher({
  quiet: 20,
  max: 200,
  poll: Number(poll),
  probe: () => Promise.resolve(reader.hasChanged()),
  onChange: load,
  onError: (error) => say(`error ${error}`),
  watchFs: where === "worker"
    ? watchInWorker({ createWorker })
    : (folders) => Deno.watchFs(folders, { recursive: false }),
});
load();
const ticks = setInterval(() => say("ticks"), 100);

for await (const line of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  if (line.includes("close")) break;
}
await watcher[Symbol.asyncDispose]();
say("closed");
await new Promise((resolve) => setTimeout(resolve, 300)); // a tick is to be seen after it
clearInterval(ticks);
say("ended");
Deno.exit(0);
