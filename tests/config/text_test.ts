import { assertEquals } from "@std/assert";
import { parseHostPort } from "../../lib/config/address.ts";
import { expand } from "../../lib/config/expand.ts";
import { nearest } from "../../lib/config/nearest.ts";
import { formatSize, parseDuration, parseSize } from "../../lib/config/units.ts";

Deno.test("duration: Go's form", () => {
  const good = {
    "0": 0,
    "100ms": 100,
    "1.5s": 1500,
    "1m30s": 90_000,
    "1h": 3_600_000,
    "2us": 0.002,
    "2µs": 0.002,
    "500000ns": 0.5,
  };
  for (const [text, ms] of Object.entries(good)) assertEquals(parseDuration(text), ms, text);
  for (const text of ["", "5", "s", "1d", "-1s", "1 s", "1s ", ".5s", "1e3s"]) {
    assertEquals(parseDuration(text), undefined, text);
  }
});

Deno.test("size: a number and a binary unit", () => {
  const good = {
    "0B": 0,
    "512KiB": 524_288,
    "32MiB": 33_554_432,
    "1.5KiB": 1536,
    "1GiB": 1_073_741_824,
  };
  for (const [text, bytes] of Object.entries(good)) assertEquals(parseSize(text), bytes, text);
  for (const text of ["", "5", "5MB", "5 MiB", "-1KiB", "MiB"]) {
    assertEquals(parseSize(text), undefined, text);
  }
  assertEquals([formatSize(12), formatSize(1536), formatSize(33_554_432)], [
    "12 bytes",
    "1.5 KiB",
    "32 MiB",
  ]);
});

Deno.test("address: host:port, IPv6 in brackets", () => {
  assertEquals(parseHostPort("a.example:80"), { host: "a.example", port: 80 });
  assertEquals(parseHostPort("[2001:db8::1]:0"), { host: "2001:db8::1", port: 0 });
  for (const text of ["a", "a:", ":1", "a:65536", "2001:db8::1:80", "[x]:80", "a/b@c:1", "a:1:2"]) {
    assertEquals(parseHostPort(text), undefined, text);
  }
});

Deno.test("expand: variables, once; $$ is a dollar; anything else with a dollar is an error", () => {
  const environment = (name: string) => ({ A: "1", B: "${A}$$", EMPTY: "" })[name];
  const of = (text: string) => {
    const expansion = expand(text, environment);
    return expansion.ok ? expansion.text : expansion.message;
  };
  assertEquals(of("x${A}y${A}"), "x1y1");
  assertEquals(of("${B}"), "${A}$$");
  assertEquals(of("${EMPTY}"), "");
  assertEquals(of("$$ $${A} $$$$"), "$ ${A} $$");
  assertEquals(of("a${NONE}b${A}"), "the environment variable NONE is not set");
  assertEquals(of("a$b"), "$ is not a variable");
  assertEquals(of("${}"), "${} is not a variable");
  assertEquals(of("${a-b}"), "${a-b} is not a variable");
  assertEquals(of("${A"), "$ is not a variable");
});

Deno.test("nearest: one slip, another case, other separators; not just anything", () => {
  const keys = ["listen", "sinks", "services", "subjectAltNames", "hosts", "ports"];
  const expected = {
    lisen: "listen",
    sink: "sinks",
    Services: "services",
    srevices: "services",
    "subject-alt-names": "subjectAltNames",
    prots: "ports",
    host: "hosts",
    portsList: "ports",
  };
  for (const [word, key] of Object.entries(expected)) assertEquals(nearest(word, keys), key);
  for (const word of ["", "x", "timeout", "z".repeat(10_000)]) {
    assertEquals(nearest(word, keys), undefined);
  }
});
