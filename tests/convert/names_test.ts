import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  isEqualFold,
  isKubernetesLabel,
  isKubernetesSubdomain,
  isLabelValue,
  isQualifiedName,
  suggestLabel,
  suggestLabelValue,
  suggestName,
} from "../../lib/convert/rules/names.ts";

Deno.test("names: names of objects are subdomains, namespaces labels, both in small letters", () => {
  for (const good of ["a", "0", "a-b", "a.b", "a".repeat(100), "a.".repeat(126) + "a"]) {
    assert(isKubernetesSubdomain(good), good);
  }
  for (const bad of ["", "A", "a_b", "-a", "a-", "a..b", ".a", "a.", "a/b", "a\n", "ü"]) {
    assert(!isKubernetesSubdomain(bad), bad);
    assert(!isKubernetesLabel(bad), bad);
  }
  assert(!isKubernetesSubdomain("a".repeat(254)));
  assert(isKubernetesLabel("a".repeat(63)) && !isKubernetesLabel("a".repeat(64)));
  assert(!isKubernetesLabel("a.b"));
});

Deno.test("names: keys of labels are qualified names, values short and plain", () => {
  for (const good of ["app", "A_b.c-1", "example.com/app", "a".repeat(63)]) {
    assert(isQualifiedName(good), good);
  }
  const bad = ["", "/", "/a", "a/", "a/b/c", "_a", "a_", "a b", "Example.com/a", "a".repeat(64)];
  for (const key of bad) assert(!isQualifiedName(key), key);
  for (const good of ["", "v1", "A_b.c-1", "a".repeat(63)]) assert(isLabelValue(good), good);
  for (const value of ["v1:x", "-a", "a-", "a b", "a\n", "ü", "a".repeat(64)]) {
    assert(!isLabelValue(value), value);
  }
});

Deno.test("names: what is suggested would be taken, whatever was written", () => {
  fc.assert(fc.property(
    fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 200 })),
    (text) => {
      const [name, label, value] = [suggestName, suggestLabel, suggestLabelValue].map((f) =>
        f(text)
      );
      if (name !== undefined) assert(isKubernetesSubdomain(name), name);
      if (label !== undefined) assert(isKubernetesLabel(label), label);
      if (value !== undefined) assert(value !== "" && isLabelValue(value), value);
      if (/[a-z0-9]/.test(text)) assert(name !== undefined || label !== undefined);
    },
  ));
  assertEquals(suggestName("providers:com.test.Api"), "providers-com.test.api");
  assertEquals(suggestName("DEFAULT_GROUP@@orders"), "default-group-orders");
  assertEquals(suggestName("--..::"), undefined);
  assertEquals(suggestLabel("My.Space"), "my-space");
  assertEquals(suggestLabelValue("v1:canary"), "v1-canary");
});

Deno.test("names: a name that would be taken is suggested as it is", () => {
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9](?:[-a-z0-9]{0,20}[a-z0-9])?$/), (label) => {
    assertEquals(suggestLabel(label), label);
    assertEquals(suggestName(`${label}.${label}`), `${label}.${label}`);
    assertEquals(suggestLabelValue(label), label);
  }));
});

Deno.test("names: capitals are folded as Go folds them", () => {
  assert(isEqualFold("FALSE", "false") && isEqualFold("fal\u017fe", "false"));
  assert(!isEqualFold("fals", "false") && !isEqualFold("f\u0430lse", "false"));
});
