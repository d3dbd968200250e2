import { assertEquals } from "@std/assert";
import { logPorts } from "../../lib/cli/port_log.ts";
import { Log } from "../../lib/log.ts";

/** A log whose lines are kept, without their times. */
function bench() {
  const lines: string[] = [];
  const sink = (line: string) => void lines.push(line.replace(/^\S+ /, "").trimEnd());
  return { log: new Log({ level: "info", format: "text", sink }), lines };
}

Deno.test("log: TLS files in trouble are said with what would be right, and when it is over", () => {
  const { log, lines } = bench();
  const { tlsProblem } = logPorts(log, "listen");
  tlsProblem("[::]:15012", undefined);
  tlsProblem("[::]:15012", { severity: "warning", message: "it ends soon", hint: "renew it" });
  tlsProblem("[::]:15012", undefined);
  tlsProblem("[::]:15012", undefined);
  assertEquals(lines, [
    'WARN  tls  it ends soon  use="listen [::]:15012" hint="renew it"',
    'INFO  tls  the TLS files are as they should be again  use="listen [::]:15012"',
  ]);
});

Deno.test("log: new TLS files are said with whose certificate it is and how long it lasts", () => {
  const { log, lines } = bench();
  const notAfter = Date.parse("2030-01-02T03:04:05Z");
  logPorts(log, "receive").rotated("[::]:9901", { subject: "hub.example", notBefore: 0, notAfter });
  assertEquals(lines, [
    'INFO  tls  new TLS files are in use  use="receive [::]:9901" subject=hub.example ' +
    "notAfter=2030-01-02T03:04:05.000Z",
  ]);
});

Deno.test("log: what is not protected of a port is a warning that names the port and the setting", () => {
  const { log, lines } = bench();
  const { exposed } = logPorts(log, "receive");
  exposed("0.0.0.0:9901", "plaintext");
  exposed("0.0.0.0:9901", "unproven");
  assertEquals(lines, [
    "WARN  listener  plaintext off loopback, as `insecure: true` has it: it can be read and changed " +
    "on its way  receive=0.0.0.0:9901",
    "WARN  listener  no source need prove who it is, as `insecure: true` has it: each is believed its " +
    "name  receive=0.0.0.0:9901",
  ]);
});

Deno.test("log: a port that died is an error, until it takes connections again", () => {
  const { log, lines } = bench();
  const { dead, revived } = logPorts(log, "listen");
  dead("[::]:15012");
  revived("[::]:15012");
  assertEquals(lines, [
    'ERROR listener  the port takes no connections; it is opened anew until it does  listen="[::]:15012"',
    'INFO  listener  the port takes connections again  listen="[::]:15012"',
  ]);
});

Deno.test("log: a port that waits for its TLS files is an error with the reason, until it is open", () => {
  const { log, lines } = bench();
  const { waits, opened } = logPorts(log, "receive");
  waits("[::]:9901", "the key is not that of the certificate");
  opened("[::]:9901");
  assertEquals(lines, [
    'ERROR listener  the port is not open; it is opened as soon as that is mended  receive="[::]:9901" reason="the key is not that of the certificate"',
    'INFO  listener  the port is open now  receive="[::]:9901"',
  ]);
});
