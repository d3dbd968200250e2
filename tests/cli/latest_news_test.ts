import { assertEquals } from "@std/assert";
import { LatestNews, type LatestNewsOptions } from "../../lib/cli/latest_news.ts";
import { FakeClock } from "../rollout/fake_clock.ts";

function bench(options: LatestNewsOptions = {}) {
  const clock = new FakeClock();
  const news = new LatestNews({ clock, period: 1000, ...options });
  const said: [string, number][] = [];
  const tell = (topic: string, what: string) =>
    news.tell(topic, (unsaid) => void said.push([what, unsaid]));
  return { clock, news, said, tell };
}

Deno.test("latest news: a few are said at once, then the last of each period with the count of the others", async () => {
  const { clock, news, said, tell } = bench();
  using _ = news;
  for (let i = 0; i < 9; i++) tell("a", `a${i}`);
  tell("b", "b0");
  assertEquals(said.splice(0), [["a0", 0], ["a1", 0], ["a2", 0], ["a3", 0], ["b0", 0]]);
  await clock.advance(999);
  assertEquals(said, []);
  await clock.advance(1);
  assertEquals(said.splice(0), [["a8", 4]]);
  tell("a", "a9");
  await clock.advance(1000);
  assertEquals(said.splice(0), [["a9", 0]]);
  assertEquals(clock.sleeping, 0);
});

Deno.test("latest news: a topic that was quiet for a period is said at once again", async () => {
  const { clock, news, said, tell } = bench();
  using _ = news;
  for (let i = 0; i < 5; i++) tell("a", `a${i}`);
  await clock.advance(1000);
  await clock.advance(1000);
  said.splice(0);
  tell("a", "again");
  assertEquals(said, [["again", 0]]);
});

Deno.test("latest news: topics beyond what is remembered are told as one", async () => {
  const { clock, news, said, tell } = bench({ topics: 10 });
  using _ = news;
  for (let i = 0; i < 1000; i++) tell(`topic ${i}`, `${i}`);
  assertEquals(said.length, 14);
  await clock.advance(1000);
  assertEquals(said.slice(14), [["999", 985]]);
  await clock.advance(1000);
  for (let i = 0; i < 5; i++) tell(`topic ${i}`, "again");
  assertEquals(said.slice(15).length, 5);
});

Deno.test("latest news: when it is disposed, nothing is said any more", async () => {
  const { clock, news, said, tell } = bench();
  for (let i = 0; i < 5; i++) tell("a", `a${i}`);
  news[Symbol.dispose]();
  await clock.advance(5000);
  assertEquals([said.length, clock.sleeping], [4, 0]);
});
