import { assertEquals } from "@std/assert";
import { parseHostPort } from "../../lib/config/address.ts";
import { formatHostPort } from "../../lib/model/host_port.ts";

Deno.test("host and port: what is written is read back, IPv6 in brackets", () => {
  for (
    const [host, text] of [
      ["sink.example", "sink.example:9901"],
      ["192.0.2.1", "192.0.2.1:9901"],
      ["2001:db8::1", "[2001:db8::1]:9901"],
    ] as const
  ) {
    assertEquals(formatHostPort(host, 9901), text);
    assertEquals(parseHostPort(text), { host, port: 9901 });
  }
});
