/**
 * The RouteConfiguration of Dubbo applications: a virtual host for each service, found by the name of
 * the application that provides it (`providedBy` of a reference), with one route.
 *
 * @module
 */
import { routeConfigurationCodec } from "../../wire/messages.ts";
import type { Assembled, OwnedPart, ViewFinding } from "../recipe.ts";
import { type Domain, settleDomains } from "../shared/domains.ts";
import { viewResource } from "../shared/view_resource.ts";

/** A service's virtual host. */
export interface DubboHost {
  readonly name: string;
  readonly domains: readonly Domain[];
  readonly cluster: string;
}

/** Largest message that gRPC for Java takes unless it is told otherwise, and Dubbo does not tell it. Bytes. */
const MAX_MESSAGE = 4 * 1024 * 1024;

/** The RouteConfiguration of this name with the virtual hosts of all parts. */
export function dubboRoutes(
  name: string,
  parts: readonly OwnedPart<DubboHost>[],
  namespace: string,
): Assembled {
  const claims = parts.map(({ key, data: { domains } }) => ({ key, domains }));
  const { granted } = settleDomains(claims, namespace, "");
  const virtualHosts = parts.flatMap(({ data }, index) => {
    const domains = granted[index]!;
    if (domains.length === 0) return [];
    const routes = [{ match: { prefix: "/" }, route: { cluster: data.cluster } }];
    return [{ name: data.name, domains, routes }];
  });
  const resource = viewResource(routeConfigurationCodec, name, { name, virtualHosts });
  const findings = taken(parts, granted);
  if (resource.bytes.length > MAX_MESSAGE) findings.push(tooLarge(parts, resource.bytes.length));
  return { resource, findings };
}

/** A finding for each service that another has a name of. */
function taken(
  parts: readonly OwnedPart<DubboHost>[],
  granted: readonly (readonly string[])[],
): ViewFinding[] {
  const owners = new Map<string, string>();
  parts.forEach(({ key }, index) => {
    for (const text of granted[index]!) owners.set(text.toLowerCase(), key);
  });
  return parts.flatMap(({ key, data }) => {
    const lost = data.domains.filter(({ text }) => owners.get(text.toLowerCase()) !== key);
    if (lost.length === 0) return [];
    const names = lost.map(({ text }) => `${text} (${owners.get(text.toLowerCase())})`);
    const message =
      `a reference with one of these as its \`providedBy\` reaches another service: ` +
      `${names.join(", ")}; an application's name must be that of one service among those that a ` +
      "client gets, so let `namespaces` of a rule of `peers` tell the clients apart";
    return [{ key, rule: "view/domain-taken", message }];
  });
}

function tooLarge(parts: readonly OwnedPart<DubboHost>[], bytes: number): ViewFinding {
  const size = (bytes / 1024 / 1024).toFixed(1);
  return {
    key: parts[0]!.key,
    rule: "view/dubbo-size",
    message: `with ${parts.length - 1} others it makes routes of ${size} MiB, and an application ` +
      "takes no message of more than 4 MiB; let `namespaces` or `labels` of a rule of `peers` " +
      "leave out what the clients do not call",
  };
}
