import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { matchesPattern } from "../../lib/model/pattern.ts";
import {
  allowedNamespaces,
  isProven,
  nameSource,
  type NamingOptions,
  type SourceNaming,
} from "../../lib/transport/source_name.ts";
import { TokenIndex } from "../../lib/transport/token_index.ts";

interface Dialled {
  readonly uris?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly token?: string;
  readonly instance?: string;
  readonly address?: string;
}

const TOKENS = new TokenIndex([["edge-a", "aaaa-secret"], ["edge-b", "bbbb-secret"]]);
const SPIFFE = "spiffe://example.org/edge/fra";

function name(dialled: Dialled, options: Partial<NamingOptions> = {}): SourceNaming {
  const { uris, dnsNames = [], token, instance, address = "192.0.2.7" } = dialled;
  const identity = uris === undefined && dialled.dnsNames === undefined
    ? {}
    : { identity: { uris: uris ?? [], dnsNames } };
  return nameSource({
    peer: { address, port: 4321, ...identity },
    metadata: {
      ...(token === undefined ? {} : { authorization: [`Bearer ${token}`] }),
      ...(instance === undefined ? {} : { "x-pinnace-instance": [instance] }),
    },
  }, { tokens: () => TOKENS, unproven: true, from: [], ...options });
}

function named(dialled: Dialled, options: Partial<NamingOptions> = {}) {
  const naming = name(dialled, options);
  assert(naming.kind === "named", JSON.stringify(naming));
  return [naming.by, naming.name];
}

function denied(dialled: Dialled, options: Partial<NamingOptions> = {}) {
  const naming = name(dialled, options);
  assert(naming.kind === "denied", JSON.stringify(naming));
  return naming;
}

Deno.test("source name: the certificate's SPIFFE URI first, then its DNS name, the token, the instance, the address", () => {
  const all = {
    uris: ["https://example.org/x", SPIFFE],
    dnsNames: ["fra.edge.example", "other.example"],
    token: "bbbb-secret",
    instance: "edge-fra-1",
  };
  assertEquals(named(all), ["uri", SPIFFE]);
  assertEquals(named({ ...all, uris: ["https://example.org/x"] }), ["dns", "fra.edge.example"]);
  assertEquals(named({ ...all, uris: [], dnsNames: [] }), ["token", "edge-b"]);
  assertEquals(named({ instance: "edge-fra-1" }), ["instance", "edge-fra-1"]);
  assertEquals(named({}), ["address", "192.0.2.7"]);
  assertEquals(["uri", "dns", "token", "instance", "address"].map((by) => isProven(by as "uri")), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("source name: what a source calls itself is told along, whatever it is named by", () => {
  const naming = name({ uris: [SPIFFE], instance: "edge-fra-1" });
  assertEquals(naming, {
    kind: "named",
    name: SPIFFE,
    by: "uri",
    instance: "edge-fra-1",
    resumes: false,
    namespaces: [],
  });
  const garbled = name({ uris: [SPIFFE], instance: "edge\u0007" });
  assert(garbled.kind === "named" && garbled.instance === undefined);
});

Deno.test("source name: whether a source heeds what is held it says by a header of its own, not by having a name", () => {
  const resumes = (metadata: Readonly<Record<string, readonly string[]>>) => {
    const peer = { address: "192.0.2.7", port: 4321 };
    const naming = nameSource({ peer, metadata }, {
      ...{ tokens: () => new TokenIndex([]), unproven: true, from: [] },
    });
    return naming.kind === "named" && naming.resumes;
  };
  assertEquals(resumes({ "x-pinnace-resumes": ["1"] }), true);
  for (const not of [{}, { "x-pinnace-instance": ["edge-1"] }, { "x-pinnace-resumes": ["0"] }]) {
    assertEquals(resumes(not), false);
  }
});

Deno.test("source name: an address is named without its IPv4-mapped form", () => {
  assertEquals(named({ address: "::ffff:192.0.2.7" }), ["address", "192.0.2.7"]);
  assertEquals(named({ address: "2001:db8::1" }), ["address", "2001:db8::1"]);
});

Deno.test("source name: where identity must be proved, neither header nor address will do", () => {
  for (const dialled of [{}, { instance: "edge-a" }, { uris: [], instance: "x" }]) {
    const { code, message } = denied(dialled, { unproven: false });
    assertEquals(code, "UNAUTHENTICATED");
    assertMatch(message, /client certificate or a token/);
  }
  assertEquals(named({ token: "aaaa-secret" }, { unproven: false }), ["token", "edge-a"]);
});

Deno.test("source name: a wrong token is refused, even where none is needed", () => {
  for (const token of ["aaaa-secreT", "aaaa-secret2", "a", "edge-a"]) {
    const { code, message } = denied({ token, instance: "edge-x" });
    assertEquals(code, "UNAUTHENTICATED");
    assert(!message.includes(token), "the token is not repeated");
  }
});

Deno.test("source name: an empty token is nobody's, and where no token is known none is asked after", () => {
  const empty = { tokens: () => new TokenIndex([["edge-a", ""]]) };
  assertEquals(denied({ token: "x" }, empty).code, "UNAUTHENTICATED");
  assertEquals(named({ token: "" }, empty), ["address", "192.0.2.7"]);
  assertEquals(named({ token: "x", instance: "edge-1" }, { tokens: () => new TokenIndex([]) }), [
    "instance",
    "edge-1",
  ]);
});

Deno.test("source name: tokens are asked for at each stream", () => {
  let tokens = new TokenIndex([["edge-a", "one"]]);
  assertEquals(named({ token: "one" }, { tokens: () => tokens })[1], "edge-a");
  tokens = new TokenIndex([["edge-a", "two"]]);
  assertEquals(denied({ token: "one" }, { tokens: () => tokens }).code, "UNAUTHENTICATED");
});

Deno.test("source name: an instance that could be taken for a proved name is refused", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [SPIFFE, /must not look like the URI/],
    ["x://y", /must not look like the URI/],
    ["192.0.2.9", /must not look like an address/],
    ["edge-a", /is the name of a token/],
    ["edge a", /letters, digits/],
    ["edge\u0000a", /letters, digits/],
    ["edge\na", /letters, digits/],
    ["", /letters, digits/],
    ["x".repeat(254), /at most 253/],
  ];
  for (const [instance, why] of cases) {
    const { code, message } = denied({ instance });
    assertEquals(code, "PERMISSION_DENIED");
    assertMatch(message, why);
  }
});

Deno.test("source name: no instance makes a name with anything but letters, digits, and -_.", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 30 }), (instance) => {
    const naming = name({ instance });
    if (naming.kind === "named") assertMatch(naming.name, /^[\w.-]+$/);
  }));
});

Deno.test("source name: a certificate's name that would garble a log is refused", () => {
  for (const uri of ["spiffe://a/\u001b[31m", "spiffe://a/b c", `spiffe://${"a".repeat(2050)}`]) {
    assertEquals(denied({ uris: [uri] }).code, "PERMISSION_DENIED");
  }
});

Deno.test("source name: the first rule that matches says which namespaces; without rules all are open", () => {
  const from = [
    { source: "spiffe://example.org/edge/*", namespaces: ["shop", "edge-*"] },
    { source: "edge-?", namespaces: ["never"] },
    { source: "edge-b", namespaces: [] },
    { source: "edge-*", namespaces: ["last"] },
  ];
  const namespaces = (dialled: Dialled) => {
    const naming = name(dialled, { from });
    return naming.kind === "named" ? naming.namespaces : undefined;
  };
  assertEquals(namespaces({ uris: [SPIFFE] }), ["shop", "edge-*"]);
  assertEquals(namespaces({ token: "bbbb-secret" }), []);
  assertEquals(namespaces({ token: "aaaa-secret" }), ["last"]);
  assertEquals(allowedNamespaces({ name: "anyone", by: "token" }, []), []);
});

Deno.test("source name: a rule for a DNS name counts whatever its case, one for a token does not", () => {
  const from = [{ source: "Edge-A.example", namespaces: ["a"] }, { source: "*", namespaces: [] }];
  assertEquals(allowedNamespaces({ name: "edge-a.example", by: "dns" }, from), ["a"]);
  assertEquals(allowedNamespaces({ name: "edge-a.example", by: "token" }, from), []);
});

Deno.test("source name: a source that no rule is for hears its name and which setting decides", () => {
  const from = [{ source: "edge-b", namespaces: [] }];
  const { code, message } = denied({ uris: [SPIFFE] }, { from });
  assertEquals(code, "PERMISSION_DENIED");
  assert(message.startsWith(`${SPIFFE}: `), message);
  assertMatch(message, /receive\.from/);
});

Deno.test("source name: rules match as patterns do", () => {
  const text = fc.stringMatching(/^[ab*]{0,5}$/);
  fc.assert(fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), text, (patterns, who) => {
    const from = patterns.map((source, index) => ({ source, namespaces: [`${index}`] }));
    const first = patterns.findIndex((pattern) => matchesPattern(pattern, who));
    const namespaces = allowedNamespaces({ name: who, by: "token" }, from);
    assertEquals(namespaces, first < 0 ? undefined : [`${first}`]);
  }));
});
