import { assertEquals } from "@std/assert";
import { ServingState } from "../../lib/transport/serving_state.ts";

Deno.test("serving state: each watcher hears each change, none after it has had enough", () => {
  const state = new ServingState();
  const heard: string[] = [];
  const both = () => heard.push(`both ${state.serving}`);
  const [first, second] = [state.watch(both), state.watch(both)];
  state.set(false);
  assertEquals(heard, [], "no change");
  state.set(true);
  assertEquals(heard, ["both true", "both true"]);
  first[Symbol.dispose]();
  state.set(false);
  assertEquals(heard, ["both true", "both true", "both false"]);
  second[Symbol.dispose]();
  state.set(true);
  assertEquals([heard.length, state.serving], [3, true]);
});

Deno.test("serving state: a watcher may leave, or another come, while a change is told", () => {
  const state = new ServingState(true);
  let heard = 0;
  const watching = state.watch(() => {
    heard++;
    watching[Symbol.dispose]();
    state.watch(() => heard += 10);
  });
  state.set(false);
  assertEquals(heard, 1);
  state.set(true);
  assertEquals(heard, 11);
});
