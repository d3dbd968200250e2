import { assertEquals } from "@std/assert";
import { isLoopback } from "../../lib/model/loopback.ts";

Deno.test("loopback: addresses of this machine and localhost; any other name is not", () => {
  for (
    const host of ["localhost", "LOCALHOST", "127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"]
  ) {
    assertEquals(isLoopback(host), true, host);
  }
  const others = [
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "fe80::1%lo",
    "a.localhost",
    "127.1",
    "2130706433",
    "",
  ];
  for (const host of others) assertEquals(isLoopback(host), false, host);
});
