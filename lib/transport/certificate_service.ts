/**
 * `istio.v1.auth.IstioCertificateService`: what clients of Istio's ask for certificates. Nothing is
 * signed here; who asks is told what to set instead.
 *
 * A Dubbo application asks before it opens a channel to its `xds://` registry, unless the registry's
 * address says `secure=plaintext`, and writes the status to its log.
 *
 * @module
 */
import { CallError, type PushServer } from "./server.ts";

const CREATE_CERTIFICATE = "/istio.v1.auth.IstioCertificateService/CreateCertificate";

const ADVICE = "Pinnace signs no certificates. A Dubbo application needs none: add " +
  "`secure=plaintext` to the address of its registry, as in xds://HOST:PORT?secure=plaintext, where " +
  "HOST:PORT is a plaintext address of Pinnace's `listen`. Whoever needs a certificate has to ask " +
  "an authority that signs them: for a Dubbo application and an istio-agent, CA_ADDR names it";

/** Adds the service to a server: every call of it ends with UNIMPLEMENTED and says what to set. */
export function addCertificateService(server: PushServer): void {
  server.addUnary(
    CREATE_CERTIFICATE,
    () => Promise.reject(new CallError("UNIMPLEMENTED", ADVICE)),
    { listed: false },
  );
}
