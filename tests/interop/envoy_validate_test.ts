/** Envoy's own verdict on what it is served: every golden case, services at random, and what is wrong. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { Json, JsonObject } from "../../lib/wire/proto_json.ts";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { envoyPattern } from "../../lib/view/shared/pattern.ts";
import { readCases, resourcesOf, viewOf } from "../view/envoy/envoy_world.ts";
import { catalogues } from "../view/envoy/random_catalogue.ts";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY, validate, type Verdict } from "./lib/envoy.ts";
import { asServed, inline, type Resources, withClusters } from "./lib/static_envoy.ts";

const ACCEPTED: Verdict = { kind: "accepted" };
/** Printed by the test; `ENVOY_SEED` gives another run's back. */
const SEED = Number(Deno.env.get("ENVOY_SEED") ?? Date.now() % 2 ** 31);
const RUNS = 60;

/** Authorities to trust: a file that Envoy reads, wherever the settings say that it is. */
class TrustedFile implements AsyncDisposable {
  private constructor(readonly path: string, readonly folder: TempFolder) {}

  static async create(): Promise<TrustedFile> {
    await using authority = await Authority.create("those to trust");
    const folder = await TempFolder.create();
    const path = await folder.write("ca.pem", authority.cert);
    return new TrustedFile(path, folder);
  }

  /** The same with that file in place of any other. */
  in(bootstrap: JsonObject): JsonObject {
    const text = JSON.stringify(
      bootstrap,
      (key, value: Json) => key === "trustedCa" ? { filename: this.path } : value,
    );
    return JSON.parse(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.folder[Symbol.asyncDispose]();
  }
}

interopTest("envoy: every golden case passes --mode validate", [ENVOY], async () => {
  await using trusted = await TrustedFile.create();
  for (const { name, view } of readCases()) {
    const resources = resourcesOf(view);
    assertEquals(await validate(trusted.in(asServed(resources))), ACCEPTED, name);
    assertEquals(await validate(trusted.in(inline(resources))), ACCEPTED, `${name}, inline`);
  }
});

interopTest(`envoy: services at random pass --mode validate`, [ENVOY], async () => {
  // deno-lint-ignore no-console
  console.log(`  seed ${SEED}`);
  await using trusted = await TrustedFile.create();
  for (const catalogue of fc.sample(catalogues, { numRuns: RUNS, seed: SEED })) {
    const resources = resourcesOf(viewOf(catalogue));
    const said = () => JSON.stringify([...catalogue.services.values()], null, 1);
    const served = await validate(trusted.in(asServed(resources)));
    assertEquals(served, ACCEPTED, served.kind === "refused" ? said() : "");
    // Rules may lead to services that are not there: Envoy answers with an error then.
    const whole = await validate(trusted.in(inline(withClusters(resources))));
    assertEquals(whole, ACCEPTED, whole.kind === "refused" ? said() : "");
  }
});

/** A case with something wrong in it, and what Envoy says of that. */
interface Wrong {
  readonly what: string;
  readonly from: RegExp;
  readonly to: string;
  readonly reason: string;
}

const WRONGS: readonly Wrong[] = [
  {
    what: "a route to a cluster that is not there",
    from: /"cluster":"outbound[^"]*"/,
    to: '"cluster":"none"',
    reason: "unknown cluster",
  },
  {
    what: "a domain twice",
    from: /"domains":\[("[^"]*")/,
    to: '"domains":[$1,$1',
    reason: "Only unique values for domains",
  },
  {
    what: "an endpoint that has no address",
    from: /"address":"192\.0\.2\.1"/,
    to: '"address":"a.example.com"',
    reason: "malformed IP address",
  },
  {
    what: "a field that nobody knows",
    from: /"statPrefix"/,
    to: '"nobodyKnows":1,"statPrefix"',
    reason: "nobodyKnows",
  },
  {
    what: "a bad expression",
    from: /"prefix":"\/"/,
    to: '"safeRegex":{"regex":"(?=a)"}',
    reason: "invalid perl operator",
  },
];

interopTest("envoy: what is wrong does not pass --mode validate", [ENVOY], async () => {
  const [http] = readCases().filter(({ name }) => name === "http");
  const text = JSON.stringify(inline(resourcesOf(http!.view)));
  for (const { what, from, to, reason } of WRONGS) {
    const wrong = text.replace(from, to);
    assert(wrong !== text, what);
    const verdict = await validate(JSON.parse(wrong));
    assert(verdict.kind === "refused", what);
    assertStringIncludes(verdict.reason, reason, what);
  }
});

interopTest(
  "envoy: a listener without its routes' source, a cluster without its endpoints' do not pass",
  [
    ENVOY,
  ],
  async () => {
    const [http] = readCases().filter(({ name }) => name === "http");
    const resources: Resources = resourcesOf(http!.view);
    const text = JSON.stringify(asServed(resources));
    const without = (key: string) =>
      JSON.parse(JSON.stringify(JSON.parse(text), (k, value) => k === key ? undefined : value));
    for (const key of ["configSource", "edsConfig"]) {
      assertEquals((await validate(without(key))).kind, "refused", key);
    }
  },
);

/** Expressions that are served to an Envoy: of each kind of part one, and some as large as they may be. */
const SERVED_PATTERNS = [
  ...[
    "abc",
    "/orders/.*",
    "a|b",
    "(a|bc)*d+e?",
    "(?i)put|get",
    "(?s-m:a.b)",
    "[]a]",
    "[^]a]",
    "a{,2}",
  ],
  ...[
    "[[:alpha:]_]+",
    "[[:^word:]]",
    "\\d\\D\\s\\S\\w\\W",
    "\\Aa\\b\\B\\z",
    "^a$",
    "[--/]",
    "[\\d-z]",
  ],
  ...[
    "\\x41\\x{7f}\\0\\077\\a\\f\\n\\r\\t\\v",
    "\\_\\-\\/\\ \\#",
    "/é",
    "(?P<x>a)(?<x>b)",
    "[(?P<x>]",
  ],
  ...[
    "a{91}",
    "(?:a{9}){9}",
    "[^/]{11}",
    ".{11}",
    "\\w{23}",
    "(?:a?){22}",
    "(?i)[a-z]{7}",
    "(a){22}",
  ],
  ...[
    "a{0,22}",
    "(?:ab|cd|ef|gh|ij|kl|mn|op|qr|st|uv|wx)",
    "(((a*)*)*)*",
    "/a/.*/b/.*/c/.*",
    "[[.]",
  ],
];

/** What is not served, and Envoy's reason. */
const REFUSED_PATTERNS: readonly (readonly [string, string])[] = [
  ["/orders/[0-9a-f-]{36}", "program size"],
  ["/\\w{1,30}/items", "program size"],
  ["(a{50}){50}", "invalid repetition size"],
  ["[a-\\d]", "invalid escape sequence"],
  ["\\p{Foo}", "invalid character class"],
  ["\\x{100}", "invalid escape sequence"],
];

interopTest(
  "envoy: each expression that it is served passes --mode validate",
  [ENVOY],
  async () => {
    const [http] = readCases().filter(({ name }) => name === "http");
    const text = JSON.stringify(inline(resourcesOf(http!.view)));
    const withPattern = (regex: string) =>
      validate(JSON.parse(
        text.replace(/"prefix":"\/"/, () => `"safeRegex":{"regex":${JSON.stringify(regex)}}`),
      ));
    for (const pattern of SERVED_PATTERNS) {
      const served = envoyPattern(pattern);
      assert(served !== undefined, pattern);
      assertEquals(await withPattern(served), ACCEPTED, pattern);
    }
    for (const [pattern, reason] of REFUSED_PATTERNS) {
      assertEquals(envoyPattern(pattern), undefined, pattern);
      const verdict = await withPattern(pattern);
      assert(verdict.kind === "refused", pattern);
      assertStringIncludes(verdict.reason, reason, pattern);
    }
  },
);
