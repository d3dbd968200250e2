import { assert, assertEquals } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { PullKnowledge, type StreamEnd } from "../../lib/transport/pull_knowledge.ts";
import type { StatusName } from "../../lib/transport/push_stream.ts";

const NEWEST = "networking.istio.io/v1/ServiceEntry";
const OLDER = "networking.istio.io/v1beta1/ServiceEntry";
const OLDEST = "networking.istio.io/v1alpha3/ServiceEntry";
const HOUR = 3_600_000;

function ended(
  code: StatusName | undefined,
  more: Partial<Extract<StreamEnd, { kind: "ended" }>> = {},
): StreamEnd {
  const status = code === undefined ? {} : { code };
  return { kind: "ended", ...status, reason: "no", answered: true, unanswered: [], ...more };
}

/** Knowledge of a server that does not serve the delta variant. */
function sotw(): PullKnowledge {
  const knowledge = new PullKnowledge();
  assert(knowledge.learn(ended("UNIMPLEMENTED", { answered: false, unanswered: [NEWEST] }), 0));
  assertEquals(knowledge.variant, "sotw");
  return knowledge;
}

function entryType(knowledge: PullKnowledge, now = 0): string | undefined {
  return knowledge.types(now).map((one) => one.typeUrl).find((u) => u.endsWith("/ServiceEntry"));
}

Deno.test("pull knowledge: a delta stream that answered is no reason to leave delta", () => {
  const knowledge = new PullKnowledge();
  for (const code of ["UNIMPLEMENTED", "UNKNOWN", "RESOURCE_EXHAUSTED", "OK"] as const) {
    knowledge.learn(ended(code), 0);
  }
  assertEquals(knowledge.variant, "delta");
});

Deno.test("pull knowledge: codes that say nothing of the variant or the type teach nothing", () => {
  for (const code of ["PERMISSION_DENIED", "UNAUTHENTICATED", "CANCELLED", "INTERNAL"] as const) {
    const knowledge = new PullKnowledge();
    const end = ended(code, { answered: false, unanswered: [NEWEST], reason: `no ${NEWEST}` });
    assertEquals(knowledge.learn(end, 0), false);
    assertEquals([knowledge.variant, entryType(knowledge)], ["delta", NEWEST]);
  }
});

Deno.test("pull knowledge: a refused type is asked for again an hour later", () => {
  const knowledge = sotw();
  const end = ended("INVALID_ARGUMENT", { reason: `${NEWEST}?`, unanswered: [NEWEST] });
  assert(knowledge.learn(end, 1000));
  assertEquals(entryType(knowledge, HOUR + 999), OLDER);
  assertEquals(entryType(knowledge, HOUR + 1000), NEWEST);
});

Deno.test("pull knowledge: only types that were not answered are refused, and a name in full counts", () => {
  const knowledge = sotw();
  const reason = `${NEWEST}List and ${OLDER} are not served`;
  const unanswered = [NEWEST, "networking.istio.io/v1/Gateway"];
  assert(knowledge.learn(ended("INVALID_ARGUMENT", { reason, unanswered }), 0));
  assertEquals([entryType(knowledge), knowledge.oneByOne], [NEWEST, true]);
});

Deno.test("pull knowledge: the only type unanswered is the one refused", () => {
  const knowledge = sotw();
  assert(knowledge.learn(ended("NOT_FOUND", { unanswered: [NEWEST] }), 0));
  assertEquals([entryType(knowledge), knowledge.oneByOne], [OLDER, false]);
});

Deno.test("pull knowledge: a server without ADS, or one that refuses whatever is asked, is not asked type by type for ever", () => {
  for (const code of ["UNIMPLEMENTED", "UNKNOWN", "INVALID_ARGUMENT", "NOT_FOUND"] as const) {
    const knowledge = sotw();
    let streams = 1;
    for (;; streams++) {
      const asked = knowledge.types(0).map(({ typeUrl }) => typeUrl);
      const unanswered = knowledge.oneByOne ? asked.slice(0, 1) : asked;
      if (!knowledge.learn(ended(code, { answered: false, unanswered }), 0)) break;
    }
    assert(streams <= 13, `${streams} streams`);
    assertEquals([entryType(knowledge), knowledge.oneByOne], [NEWEST, false]);
  }
});

Deno.test("pull knowledge: a server that has little is asked until that is found", () => {
  const knowledge = sotw();
  const serves = "networking.istio.io/v1/VirtualService";
  for (let streams = 0;; streams++) {
    assert(streams < 15, "it is found");
    const asked = knowledge.types(0).map(({ typeUrl }) => typeUrl);
    const unanswered = knowledge.oneByOne ? asked.slice(0, 1) : asked;
    if (unanswered[0] === serves) break;
    assert(knowledge.learn(ended("INVALID_ARGUMENT", { answered: false, unanswered }), 0));
  }
});

Deno.test("pull knowledge: all is forgotten when the server was away", () => {
  const broken: StreamEnd[] = [ended(undefined), ended("UNAVAILABLE")];
  for (const end of [...broken, { kind: "silent", reason: "nothing" }] as const) {
    const knowledge = sotw();
    knowledge.serves(OLDEST);
    const unanswered = [NEWEST, OLDER];
    knowledge.learn(ended("INVALID_ARGUMENT", { unanswered }), 0);
    assertEquals([knowledge.oneByOne, entryType(knowledge)], [true, OLDEST]);
    assertEquals(knowledge.learn(end, 0), false);
    assertEquals([knowledge.variant, knowledge.oneByOne], ["delta", false]);
    assertEquals(entryType(knowledge), NEWEST);
  }
});

Deno.test("pull knowledge: a server can teach only so much, whatever it does", () => {
  const ends = (unanswered: string[]): StreamEnd[] => [
    ended("INVALID_ARGUMENT", { unanswered }),
    ended("INVALID_ARGUMENT", { unanswered, answered: false, reason: unanswered.join() }),
    ended("UNIMPLEMENTED", { unanswered, answered: false }),
    { kind: "unheeded", reason: "sent again" },
  ];
  for (let pick = 0; pick < 4; pick++) {
    const knowledge = new PullKnowledge();
    let learned = 0;
    for (let i = 0; i < 1000; i++) {
      const asked = knowledge.types(0).map(({ typeUrl }) => typeUrl);
      if (asked.length === 0) break;
      if (knowledge.learn(ends(asked)[(i * 7 + pick) % 4]!, 0)) learned++;
    }
    const urls = KINDS.reduce((sum, { versions }) => sum + versions.length, 0);
    assert(learned <= urls + 2, `${learned} streams`);
  }
});

Deno.test("pull knowledge: other versions are tried from newest to oldest, what was found first", () => {
  const knowledge = new PullKnowledge();
  assertEquals([knowledge.after(NEWEST), knowledge.after(OLDER), knowledge.after(OLDEST)], [
    OLDER,
    OLDEST,
    undefined,
  ]);
  assertEquals(knowledge.after("unknown.istio.io/v1/Kind"), undefined);
  knowledge.serves(OLDEST);
  assertEquals([entryType(knowledge), knowledge.after(OLDEST), knowledge.after(NEWEST)], [
    OLDEST,
    NEWEST,
    OLDER,
  ]);
});
