/**
 * How Envoy speaks with endpoints: HTTP/2 or not, TLS or not.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import {
  type Any,
  type NamedExtension,
  type Partially,
  type StringMap,
  type SubjectAltNameMatcher,
  upstreamHttpOptionsCodec,
  upstreamTlsContextCodec,
} from "../../wire/messages.ts";
import { protocolClass, speaksHttp2 } from "../shared/names.ts";

const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** Whether endpoints of this port are spoken to in TLS of Envoy's own; a TLS port's clients speak it themselves. */
export function originatesTls(service: Service, port: ServicePort): boolean {
  return service.subjectAltNames.length > 0 && protocolClass(port) !== "tls";
}

/** Options of HTTP by the extension's name. */
export function httpOptions(service: Service, port: ServicePort): StringMap<Any> {
  // Without a name of its own, the name that a request is for is asked for.
  const autoSni = originatesTls(service, port) && protocolClass(port) === "http" &&
    serverName(service) === undefined;
  if (!speaksHttp2(port) && !autoSni) return {};
  const explicitHttpConfig = speaksHttp2(port)
    ? { http2ProtocolOptions: {} }
    : { httpProtocolOptions: {} };
  const upstreamHttpProtocolOptions = autoSni ? { autoSni } : undefined;
  return {
    [HTTP_OPTIONS]: upstreamHttpOptionsCodec.pack({
      explicitHttpConfig,
      upstreamHttpProtocolOptions,
    }),
  };
}

/** TLS with endpoints that prove one of the service's names; undefined: plaintext. */
export function transportSocket(
  service: Service,
  port: ServicePort,
  trustedCa: string,
): NamedExtension | undefined {
  if (!originatesTls(service, port)) return undefined;
  const protocols = speaksHttp2(port) ? ["h2"] : ["http/1.1"];
  const context = upstreamTlsContextCodec.pack({
    sni: serverName(service),
    commonTlsContext: {
      alpnProtocols: protocolClass(port) === "http" ? protocols : [],
      validationContext: {
        trustedCa: { filename: trustedCa },
        matchTypedSubjectAltNames: service.subjectAltNames.map(nameMatcher),
      },
    },
  });
  return { name: "envoy.transport_sockets.tls", typedConfig: context };
}

/** The host that endpoints are asked for; undefined where that is a pattern. */
function serverName({ hosts }: Service): string | undefined {
  return hosts[0]!.includes("*") ? undefined : hosts[0]!;
}

function nameMatcher(name: string): Partially<SubjectAltNameMatcher> {
  return { sanType: name.includes("://") ? "URI" : "DNS", matcher: { exact: name } };
}
