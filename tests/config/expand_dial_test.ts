import { assertEquals } from "@std/assert";
import { expandDial } from "../../lib/config/expand_dial.ts";
import { expandFile, expandTlsFiles } from "../../lib/config/expand_files.ts";
import type { DialSettings } from "../../lib/model/settings.ts";
import { normalise } from "./testdata/settings_input.ts";

const VALUES: Readonly<Record<string, string>> = {
  HOST: "mesh.example",
  TLS: "/run/tls",
  NAME: "token",
  PASSWORD: "p%40ss",
  SITE: "fra",
  EMPTY: "",
};
const options = { folder: "/etc/pinnace", environment: (name: string) => VALUES[name] };
const dial = (text: string): DialSettings => normalise(`sinks: [${text}]`).sinks[0]!;
const wrong = (text: string) => {
  const expanded = expandDial(dial(text), options);
  return expanded.ok ? "" : `${expanded.message}; ${expanded.hint}`;
};

Deno.test("expand dial: nothing is left to expand, and paths are absolute", () => {
  const settings = dial(`{
    address: "\${HOST}:9901",
    tls: { ca: "\${TLS}/ca.crt", cert: tls/tls.crt, key: ../tls.key, serverName: mesh },
    tokenFile: "tokens/\${NAME}",
    proxy: "http://u:\${PASSWORD}@proxy:3128",
    headers: { x-site: "\${SITE}$$" },
  }`);
  assertEquals(expandDial(settings, options), {
    ok: true,
    dial: {
      host: "mesh.example",
      port: 9901,
      tls: {
        files: {
          kind: "files",
          cert: "/etc/pinnace/tls/tls.crt",
          key: "/etc/tls.key",
          ca: "/run/tls/ca.crt",
        },
        serverName: "mesh",
      },
      tokenFile: "/etc/pinnace/tokens/token",
      proxy: { host: "proxy", port: 3128, credentials: { user: "u", password: "p@ss" } },
      headers: { "x-site": "fra$" },
    },
  });
  assertEquals(expandDial(dial('"[::1]:1"'), options), {
    ok: true,
    dial: { host: "::1", port: 1, headers: {} },
  });
});

Deno.test("expand dial: what cannot be expanded is said, without what variables hold", () => {
  const gone = "the environment variable GONE is not set; set GONE, or write the text itself";
  for (
    const text of [
      "'${GONE}:1'",
      "{ address: 'a:1', tls: '${GONE}' }",
      "{ address: 'a:1', tls: { ca: '${GONE}' } }",
      "{ address: 'a:1', tokenFile: '${GONE}' }",
      "{ address: 'a:1', proxy: 'http://${GONE}:1' }",
      "{ address: 'a:1', headers: { x: '${GONE}' } }",
    ]
  ) assertEquals(wrong(text), gone, text);
  assertEquals(
    wrong("'${HOST}'"),
    "${HOST} is not an address; write host:port, as in 127.0.0.1:15010 or [::1]:15010",
  );
  assertEquals(
    wrong("{ address: 'a:1', proxy: '${PASSWORD}' }"),
    "`proxy` does not begin with http://; write http://host:port or http://user:password@host:port",
  );
});

Deno.test("expand files: a folder, files, and nothing where there is nothing", () => {
  assertEquals(expandTlsFiles({ kind: "folder", folder: "tls" }, options), {
    ok: true,
    files: { kind: "folder", folder: "/etc/pinnace/tls" },
  });
  assertEquals(expandTlsFiles({ kind: "files" }, options), { ok: true, files: { kind: "files" } });
  assertEquals(expandFile("${TLS}", options), { ok: true, path: "/run/tls" });
  assertEquals(expandFile("${EMPTY}", options), {
    ok: false,
    message: "${EMPTY} is no path: there is nothing in it",
    hint: "give its variables a value, or write the path",
  });
});
