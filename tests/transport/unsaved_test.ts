import { assertEquals } from "@std/assert";
import { Retries } from "../../lib/transport/pace.ts";
import { Unsaved } from "../../lib/transport/unsaved.ts";
import { FakeClock } from "./fakes.ts";

function start(retries = new Retries({ first: 1000, most: 8000 })) {
  const clock = new FakeClock();
  const over = new AbortController();
  const ended: string[] = [];
  const end = (reason: string) => void ended.push(reason);
  const unsaved = new Unsaved({ clock, retries, signal: over.signal, end });
  return { clock, over, ended, unsaved };
}

Deno.test("unsaved: the stream ends after a pause, once, with the first reason", async () => {
  const { clock, ended, unsaved } = start();
  unsaved.add("A", "no space");
  unsaved.add("A", "still none");
  unsaved.add("B", "none either");
  await clock.pass(999);
  assertEquals(ended, []);
  await clock.pass(60_000);
  assertEquals(ended, ["come again: no space"]);
});

Deno.test("unsaved: it does not end where every collection was saved after all", async () => {
  const { clock, ended, unsaved } = start();
  unsaved.add("A", "no space");
  unsaved.add("B", "no space");
  unsaved.delete("B");
  unsaved.delete("A");
  await clock.pass(60_000);
  assertEquals(ended, []);
  unsaved.add("A", "no space");
  unsaved.delete("B"); // which says nothing about A
  await clock.pass(60_000);
  assertEquals(ended.length, 1);
});

Deno.test("unsaved: a stream that is over is not ended", async () => {
  const { clock, over, ended, unsaved } = start();
  unsaved.add("A", "no space");
  over.abort();
  await clock.pass(60_000);
  assertEquals(ended, []);
});
