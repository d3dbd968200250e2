import { assertEquals } from "@std/assert";
import { expandAddress } from "../../lib/config/expand_address.ts";
import { parseProxy } from "../../lib/config/proxy.ts";

const environment = (name: string) =>
  ({ HOST: "a.example", V6: "[2001:db8::1]:80", SECRET: "hunter2" })[name];

Deno.test("expand address: variables first, then host and port", () => {
  assertEquals(expandAddress("${HOST}:80", environment), {
    ok: true,
    host: "a.example",
    port: 80,
    text: "a.example:80",
  });
  assertEquals(expandAddress("${V6}", environment), {
    ok: true,
    host: "2001:db8::1",
    port: 80,
    text: "[2001:db8::1]:80",
  });
  assertEquals(expandAddress("127.0.0.1:0", environment), {
    ok: true,
    host: "127.0.0.1",
    port: 0,
    text: "127.0.0.1:0",
  });
});

Deno.test("expand address: what is wrong is told apart, and no variable's value is repeated", () => {
  assertEquals(expandAddress("${GONE}:80", environment), {
    ok: false,
    reason: "variable",
    message: "the environment variable GONE is not set",
    hint: "set GONE, or write the text itself",
  });
  assertEquals(expandAddress("${SECRET}", environment), {
    ok: false,
    reason: "form",
    message: "${SECRET} is not an address",
    hint: "write host:port, as in 127.0.0.1:15010 or [::1]:15010",
  });
});

Deno.test("proxy: host, port and credentials, percent-decoded", () => {
  assertEquals(parseProxy("http://proxy.example:3128"), {
    ok: true,
    proxy: { host: "proxy.example", port: 3128 },
  });
  assertEquals(parseProxy("http://u%20x:p%40:ss@w@[::1]:3128/"), {
    ok: true,
    proxy: { host: "::1", port: 3128, credentials: { user: "u x", password: "p@:ss@w" } },
  });
  assertEquals(parseProxy("http://u:@p:1"), {
    ok: true,
    proxy: { host: "p", port: 1, credentials: { user: "u", password: "" } },
  });
});
