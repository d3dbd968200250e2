import { assertMatch, assertRejects } from "@std/assert";
import { addCertificateService } from "../../lib/transport/certificate_service.ts";
import { Caller, Serving } from "./serving.ts";

Deno.test("certificate service: whoever wants a certificate is told what to set instead", async () => {
  await using serving = await Serving.start();
  addCertificateService(serving.server);
  await using caller = new Caller(serving.port);
  const path = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
  const error = await assertRejects(() => caller.unary(path, new Uint8Array([10, 1, 65])), Error);
  assertMatch(error.message, /^12 UNIMPLEMENTED: .*secure=plaintext.*CA_ADDR/);
});
