import { assertEquals } from "@std/assert";
import { tidied } from "../../lib/transport/tidy_headers.ts";

Deno.test("tidy headers: status OK travels without a message", () => {
  assertEquals(tidied({ "grpc-status": 0, "grpc-message": "OK", x: "y" }), {
    "grpc-status": 0,
    x: "y",
  });
});

Deno.test("tidy headers: the message of an error stays", () => {
  const trailers = { "grpc-status": 3, "grpc-message": "no%20such%20type" };
  assertEquals(tidied(trailers), trailers);
});

Deno.test("tidy headers: binary values are base64 without padding, others are left alone", () => {
  assertEquals(tidied({ "a-bin": "YQ==", "b-bin": ["YWI=", "YWJj"], c: "YQ==" }), {
    "a-bin": "YQ",
    "b-bin": ["YWI", "YWJj"],
    c: "YQ==",
  });
});
