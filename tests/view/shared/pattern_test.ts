import { assertEquals } from "@std/assert";
import { envoyPattern, fitsPattern, re2Pattern } from "../../../lib/view/shared/pattern.ts";

Deno.test("grpc pattern: what RE2 takes is taken", () => {
  const taken = [
    ...[
      "",
      "a",
      "/shop\\.Orders/.*",
      "(?i)put",
      "(?i:put)x",
      "(?s-m:a.b)",
      "(a)(b)",
      "[^a-z]",
      "[]a]",
    ],
    ...[
      "[[:alpha:]_]+",
      "\\d{2,300}",
      "a{1000}",
      "\\pL\\x41\\A\\z\\b",
      "[\\d.-]",
      "\\.\\-\\/",
      "a{,2}",
    ],
  ];
  for (const text of taken) assertEquals(re2Pattern(text), text, text);
});

Deno.test("grpc pattern: names of groups are left out, and a choice is kept together", () => {
  assertEquals(re2Pattern("(?P<user>a)"), "(a)");
  assertEquals(re2Pattern("(?<user>a)"), "(a)");
  assertEquals(re2Pattern("a|b"), "(?:a|b)");
});

Deno.test("grpc pattern: what RE2 refuses is refused", () => {
  const refused = [
    ...[
      "(",
      ")",
      "[",
      "[a",
      "a**",
      "a++",
      "*a",
      "a\\",
      "(?=a)",
      "(?!a)",
      "(?<=a)",
      "(?<!a)",
      "(?>a)",
    ],
    ...[
      "\\1",
      "(a)\\k",
      "\\e",
      "\\cA",
      "\\u0041",
      "[\\e]",
      "a{1001}",
      "a{2,1001}",
      "[b-a]",
      "(?x)a",
    ],
    ...["(?#a)", "[[:alpha]", "a{3,2}"],
  ];
  for (const text of refused) assertEquals(re2Pattern(text), undefined, text);
});

Deno.test("grpc pattern: a text fits as a whole", () => {
  assertEquals(fitsPattern("POST", re2Pattern("P.*")!), true);
  assertEquals(fitsPattern("POST", re2Pattern("GET|POST")!), true);
  assertEquals(fitsPattern("POST", re2Pattern("(?i)post")!), true);
  assertEquals(fitsPattern("POST", re2Pattern("post")!), false);
  assertEquals(fitsPattern("POST", re2Pattern("PO")!), false);
  assertEquals(fitsPattern("POST", re2Pattern("(?P<m>POST)")!), true);
});

/** Each is refused by one client at least, whatever others say. */
const REFUSED = [
  ...["[\\b]", "\\p{Foo}", "\\xZZ", "(a{50}){50}", "\\p{L}{1000}", "[\\z]", "\\pQ", "[a-\\d]"],
  ...["[[:foo:]]", "\\é", "\\x", "\\x4", "\\p", "\\p{Script=Greek}", "[a-[:digit:]]", "a\\p"],
  ...["(a{1000}){2}", "((a{10}){10}){11}", "\\C", "\\Qa\\E", "(?)", "(?i-)", "a{01}", "{2}", "{?"],
  ...[
    "a*{",
    "a{2}{3}",
    "a*??",
    "\\x{110000}",
    "\\x{d800}",
    "\ud800",
    "[\\Q]",
    "(?i)*",
    "a|*",
    "^*",
  ],
  ...["\\(?P<x>)", "(?P<1>a)", "(?P<a", "(?'a'b)", ".{1000}", "(?:.{30}){30}"],
  "(".repeat(2000) + ")".repeat(2000),
  "a".repeat(100_000),
];

Deno.test("pattern: what any client refuses is refused, for all of them", () => {
  for (const text of REFUSED) {
    assertEquals(re2Pattern(text), undefined, text.slice(0, 50));
    assertEquals(envoyPattern(text), undefined, text.slice(0, 50));
  }
});

Deno.test("pattern: names are left out of groups alone", () => {
  assertEquals(re2Pattern("(?P<x>a)(?<x>b)"), "(a)(b)");
  assertEquals(re2Pattern("\\(\\?P<x>"), "\\(\\?P<x>");
  assertEquals(re2Pattern("[(?P<x>]"), "[(?P<x>]");
  assertEquals(re2Pattern("\\\\(?P<x>a)"), "\\\\(a)");
});

Deno.test("pattern: a stock Envoy is given what it takes, as it is written", () => {
  const taken = [
    ...["abc", "/orders/.*", "/[a-z]+", "a|b", "/a/[^/]+/b/[^/]*", "(?i)put", "/é", "\\w{1,9}"],
    "/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}",
    `/${"a".repeat(90)}`,
  ];
  for (const text of taken) assertEquals(envoyPattern(text), text);
  const tooLarge = ["/orders/[0-9a-f-]{36}", "/\\w{1,30}/items", "a{100}", "a".repeat(100)];
  const notBytes = ["\\pL", "[à-ü]", "é*", "\\x{100}", "\\xe9", "(?i)é"];
  for (const text of [...tooLarge, ...notBytes]) {
    assertEquals(envoyPattern(text), undefined, text);
    assertEquals(re2Pattern(text), text);
  }
});

Deno.test("pattern: one that others would try for ever is answered", () => {
  // Never by one that goes back: a test that ends is the proof.
  const pattern = re2Pattern(".*".repeat(80) + "x");
  assertEquals(fitsPattern("P".repeat(400), pattern!), false);
  assertEquals(re2Pattern(".*".repeat(200) + "x"), undefined);
  assertEquals(fitsPattern("POST", ".*".repeat(200) + "x"), false);
});
