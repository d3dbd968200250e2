import { assert, assertEquals } from "@std/assert";
import { dropLabels } from "../../lib/convert/labels.ts";
import { endpoint, service } from "./service.ts";

Deno.test("labels: a service with good ones alone comes back as it is", () => {
  const good = service({ labels: { app: "a" }, annotations: { "X.example.com/y": "any: text" } });
  const { service: same, findings } = dropLabels(good);
  assert(same === good);
  assertEquals(findings, []);
});

Deno.test("labels: a bad one is left out and said, the others stay", () => {
  const { service: left, findings } = dropLabels(service({
    labels: { app: "a", "b c": "x", version: "v1:x" },
    annotations: { "not good": "x", good: "" },
    endpoints: [endpoint({ labels: { app: "a" } }), endpoint({ labels: { zone: "-", a: "b" } })],
  }));
  assertEquals(left.labels, { app: "a" });
  assertEquals(left.annotations, { good: "" });
  assertEquals(left.endpoints.map(({ labels }) => labels), [{ app: "a" }, { a: "b" }]);
  assertEquals(findings.map(({ severity, rule, path }) => [severity, rule, path!.join(".")]), [
    ["warning", "pinnace/label", "labels.b c"],
    ["warning", "pinnace/label", "labels.version"],
    ["warning", "pinnace/annotation", "annotations.not good"],
    ["warning", "pinnace/label", "endpoints.1.labels.zone"],
  ]);
});

Deno.test("labels: endpoints are judged as Istio judges them, so long values stay", () => {
  const long = "v".repeat(200);
  const { service: left } = dropLabels(service({
    labels: { long },
    endpoints: [endpoint({ labels: { long, "Example.com/Key": "x" } })],
  }));
  assertEquals(left.labels, {});
  assertEquals(left.endpoints[0]!.labels, { long, "Example.com/Key": "x" });
});

Deno.test("labels: a thousand bad ones are counted, not listed", () => {
  const endpoints = Array.from({ length: 1_000 }, () => endpoint({ labels: { a: "b:c" } }));
  const { service: left, findings } = dropLabels(service({ endpoints }));
  assertEquals(findings.length, 21);
  assertEquals(findings.at(-1)!.message, "980 more of the same");
  assert(left.endpoints.every(({ labels }) => Object.keys(labels).length === 0));
});

Deno.test("labels: keys that JavaScript knows are keys like any other", () => {
  const labels = Object.fromEntries([["__proto__", "x"], ["constructor", "y"], ["a", "z"]]);
  const { service: left, findings } = dropLabels(service({ labels }));
  assertEquals(Object.entries(left.labels), [["constructor", "y"], ["a", "z"]]);
  assertEquals(findings.map(({ path }) => path), [["labels", "__proto__"]]);
});
