import { assertEquals } from "@std/assert";
import { fitsPattern, re2Pattern } from "../../../lib/view/shared/pattern.ts";

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
      "\\d{2,1000}",
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
