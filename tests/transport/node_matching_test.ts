import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { briefNode } from "../../lib/transport/brief_node.ts";
import { NodeMatcherError, nodeTest } from "../../lib/transport/node_matching.ts";
import {
  clientStatusRequestCodec,
  deltaDiscoveryRequestCodec,
  type Node,
  type NodeMatcher,
  type Partially,
  type StringMatcher,
  type Value,
  type ValueMatcher,
} from "../../lib/wire/messages.ts";

/** Matchers as they come from the wire. */
function read(...nodeMatchers: readonly Partially<NodeMatcher>[]): readonly NodeMatcher[] {
  return clientStatusRequestCodec.decode(clientStatusRequestCodec.encode({ nodeMatchers }))
    .nodeMatchers;
}

/** A node as it comes from the wire. */
function node(parts: Partially<Node>): Node {
  return deltaDiscoveryRequestCodec.decode(deltaDiscoveryRequestCodec.encode({ node: parts }))
    .node!;
}

function fits(parts: Partially<Node>, ...matchers: readonly Partially<NodeMatcher>[]): boolean {
  return nodeTest(read(...matchers))(briefNode(node(parts)));
}

function withMetadata(fields: Record<string, Value>): Partially<Node> {
  return { id: "n", metadata: { fields } };
}

function at(path: string, value: Partially<ValueMatcher>): Partially<NodeMatcher> {
  return { nodeMetadatas: [{ path: path.split("/").map((key) => ({ key })), value }] };
}

Deno.test("node matching: texts, exact or by a part, with case or without", () => {
  const table: [Partially<StringMatcher>, string, boolean][] = [
    [{ exact: "edge-1" }, "edge-1", true],
    [{ exact: "edge" }, "edge-1", false],
    [{ exact: "EDGE-1" }, "edge-1", false],
    [{ exact: "EDGE-1", ignoreCase: true }, "edge-1", true],
    [{ prefix: "edge" }, "edge-1", true],
    [{ prefix: "dge" }, "edge-1", false],
    [{ prefix: "Edge", ignoreCase: true }, "eDGE-1", true],
    [{ suffix: "-1" }, "edge-1", true],
    [{ suffix: "-1" }, "edge-10", false],
    [{ contains: "ge-" }, "edge-1", true],
    [{ contains: "GE-", ignoreCase: true }, "edge-1", true],
    [{ contains: "xx" }, "edge-1", false],
    [{ safeRegex: { regex: "edge-[0-9]+" } }, "edge-12", true],
    [{ safeRegex: { regex: "edge" } }, "edge-12", false], // the whole text
    [{ exact: "" }, "", true],
  ];
  for (const [nodeId, id, expected] of table) {
    assertEquals(fits({ id }, { nodeId }), expected, JSON.stringify([nodeId, id]));
  }
});

Deno.test("node matching: none asks for all; of several any must fit, and of one all that it says", () => {
  assertEquals(fits({ id: "a" }), true);
  assertEquals(fits({ id: "a" }, {}), true);
  assertEquals(fits({ id: "b" }, { nodeId: { exact: "a" } }, { nodeId: { exact: "b" } }), true);
  assertEquals(fits({ id: "c" }, { nodeId: { exact: "a" } }, { nodeId: { exact: "b" } }), false);
  const both = { nodeId: { exact: "n" }, ...at("ROLE", { stringMatch: { exact: "edge" } }) };
  assertEquals(fits(withMetadata({ ROLE: { stringValue: "edge" } }), both), true);
  assertEquals(fits(withMetadata({ ROLE: { stringValue: "core" } }), both), false);
  assertEquals(fits({ id: "n" }, both), false);
});

Deno.test("node matching: metadata by path, of every type of value", () => {
  const metadata = withMetadata({
    text: { stringValue: "edge" },
    yes: { boolValue: true },
    number: { numberValue: 5 },
    nothing: { nullValue: "NULL_VALUE" },
    list: { listValue: { values: [{ stringValue: "a" }, { numberValue: 2 }] } },
    deep: {
      structValue: { fields: { inner: { structValue: { fields: { x: { stringValue: "y" } } } } } },
    },
  });
  const table: [string, Partially<ValueMatcher>, boolean][] = [
    ["text", { stringMatch: { prefix: "ed" } }, true],
    ["yes", { stringMatch: { prefix: "" } }, false],
    ["yes", { boolMatch: true }, true],
    ["yes", { boolMatch: false }, false],
    ["no-such", { boolMatch: false }, false],
    ["number", { doubleMatch: { exact: 5 } }, true],
    ["number", { doubleMatch: { range: { start: 4, end: 5 } } }, false],
    ["number", { doubleMatch: { range: { start: 5, end: 6 } } }, true],
    ["text", { doubleMatch: { exact: 5 } }, false],
    ["nothing", { nullMatch: {} }, true],
    ["no-such", { nullMatch: {} }, false],
    ["text", { presentMatch: true }, true],
    ["text", { presentMatch: false }, false],
    ["no-such", { presentMatch: true }, false],
    ["list", { listMatch: { oneOf: { stringMatch: { exact: "a" } } } }, true],
    ["list", { listMatch: { oneOf: { stringMatch: { exact: "b" } } } }, false],
    ["text", { listMatch: { oneOf: { stringMatch: { exact: "edge" } } } }, false],
    ["deep/inner/x", { stringMatch: { exact: "y" } }, true],
    ["deep/inner", { presentMatch: true }, true],
    ["deep/x", { presentMatch: true }, false],
    ["constructor", { presentMatch: true }, false],
    ["__proto__", { presentMatch: true }, false],
    [
      "number",
      { orMatch: { valueMatchers: [{ boolMatch: true }, { doubleMatch: { exact: 5 } }] } },
      true,
    ],
    ["number", { orMatch: { valueMatchers: [{ boolMatch: true }] } }, false],
  ];
  for (const [path, value, expected] of table) {
    assertEquals(fits(metadata, at(path, value)), expected, JSON.stringify([path, value]));
  }
});

Deno.test("node matching: what cannot be used is named", () => {
  const refused = (matcher: Partially<NodeMatcher>, ...others: Partially<NodeMatcher>[]) =>
    assertThrows(() => nodeTest(read(...others, matcher)), NodeMatcherError).message;
  assertStringIncludes(refused({ nodeId: {} }, {}), "node_matchers[1].node_id");
  assertStringIncludes(refused({ nodeId: { safeRegex: { regex: "(" } } }), "safe_regex");
  assertStringIncludes(refused({ nodeId: { safeRegex: { regex: "a(?!b)" } } }), "safe_regex");
  const long = { nodeId: { safeRegex: { regex: "a".repeat(1001) } } };
  assertStringIncludes(refused(long), "1000 characters");
  assertStringIncludes(refused({ nodeMetadatas: [{ value: { boolMatch: true } }] }), "no path");
  assertStringIncludes(refused({ nodeMetadatas: [{ path: [{ key: "a" }] }] }), "no value");
  assertStringIncludes(refused({ nodeMetadatas: [{ path: [{}], value: {} }] }), "path[0]");
  assertStringIncludes(refused(at("a", {})), "says nothing");
  assertThrows(() => nodeTest(read(...Array(101).fill({}))), NodeMatcherError, "at most 100");
});

Deno.test("node matching: a pattern that others would try for ever is tried in time", () => {
  const nodeId = { safeRegex: { regex: "(a+)+b" } };
  assertEquals(fits({ id: "a".repeat(200) }, { nodeId }), false);
});

Deno.test("node matching: expressions are bounded before they are compiled, alone and together", () => {
  const regexes = (count: number, regex: string) =>
    read(...Array<Partially<NodeMatcher>>(count).fill({ nodeId: { safeRegex: { regex } } }));
  const refused = (count: number, regex: string) =>
    assertThrows(() => nodeTest(regexes(count, regex)), NodeMatcherError).message;
  assertStringIncludes(refused(1, ".{1000}".repeat(142)), "too large");
  assertStringIncludes(refused(1, ".{200}"), "too large");
  assertStringIncludes(refused(100, ".{100}"), "all expressions together");
  assertStringIncludes(refused(1, "((a{100}){100}){100}"), "every RE2 takes");
  nodeTest(regexes(100, "edge-[0-9]+\\.example\\.com"));
});

Deno.test("brief node: what is kept is bounded, whatever is sent", () => {
  const fields: Record<string, Value> = {};
  for (let i = 0; i < 1000; i++) fields[`key-${i}`] = { stringValue: "x".repeat(10_000) };
  const { metadata, id, locality } = briefNode(node({
    id: "i".repeat(1000),
    locality: { region: "r".repeat(1000) },
    metadata: { fields },
  }));
  assertEquals([id.length, locality!.region.length], [256, 256]);
  assertEquals(Object.keys(metadata!.fields).length, 64);
  assertEquals(metadata!.fields["key-0"]!.stringValue!.length, 256);
  let deep: Value = { stringValue: "deep" };
  for (let i = 0; i < 40; i++) deep = { structValue: { fields: { a: deep } } };
  const kept = briefNode(node({ id: "a", metadata: { fields: { a: deep } } }));
  assertEquals(JSON.stringify(kept).match(/fields/g)!.length, 9);
  const wide = Array.from(
    { length: 1000 },
    () => ({ listValue: { values: Array(100).fill({ boolValue: true }) } }),
  );
  const lists = briefNode(
    node({ id: "a", metadata: { fields: { a: { listValue: { values: wide } } } } }),
  );
  assertEquals(JSON.stringify(lists).match(/true/g)!.length <= 64, true);
  const proto = briefNode(
    node({ id: "a", metadata: { fields: JSON.parse('{"__proto__":{"boolValue":true}}') } }),
  );
  assertEquals(Object.keys(proto.metadata!.fields), ["__proto__"]);
});
