/**
 * Rules for a ServiceEntry that depend on its resolution.
 *
 * @module
 */
import type { ServiceEntry } from "../../wire/messages.ts";
import { LOCATIONS, RESOLUTIONS } from "../messages.ts";
import { isDomain, isEqualFold, quote } from "./names.ts";
import { isHttp, isTcp, isTls, parseProtocol } from "./protocols.ts";
import type { Report, Rule } from "./rule.ts";
import { ENTRY_RULES, type EntryRule } from "./workload_entry_rules.ts";

const USE_WAYPOINT = "istio.io/use-waypoint";

const known: Rule<ServiceEntry> = {
  id: "istio/resolution",
  severity: "error",
  check: ({ spec }, report) => {
    if (typeof spec.resolution === "string") return;
    report({
      path: ["resolution"],
      message: `Istio knows no resolution ${spec.resolution}`,
      hint: `one of ${RESOLUTIONS.join(", ")}`,
    });
  },
};

const noneEndpoints: Rule<ServiceEntry> = {
  id: "istio/none-endpoints",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "NONE" || spec.endpoints.length === 0) return;
    report({
      path: ["endpoints"],
      message: "resolution NONE goes to the address that was called, so it takes no endpoints",
      hint: "STATIC for IP addresses, DNS for host names",
    });
  },
};

const noneSelector: Rule<ServiceEntry> = {
  id: "istio/none-selector",
  severity: "warning",
  check: ({ spec }, report) => {
    if (spec.resolution !== "NONE" || spec.workloadSelector === undefined) return;
    report({
      path: ["workloadSelector"],
      message: "resolution NONE goes to the address that was called, whatever the selector takes",
      hint: "STATIC uses the selected workloads",
    });
  },
};

const dnsHosts: Rule<ServiceEntry> = {
  id: "istio/dns-host",
  severity: "error",
  check: ({ spec }, report) => {
    if (!usesDns(spec) || spec.endpoints.length > 0) return;
    const index = spec.hosts.findIndex((host) => !isDomain(host));
    if (index < 0) return;
    report({
      path: ["hosts", index],
      message: `${quote(spec.hosts[index]!)} cannot be looked up in DNS`,
      hint: "give it endpoints, or resolution NONE, or DYNAMIC_DNS if it is outside the mesh",
    });
  },
};

const dnsRoundRobinEndpoints: Rule<ServiceEntry> = {
  id: "istio/dns-round-robin-endpoints",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "DNS_ROUND_ROBIN" || spec.endpoints.length < 2) return;
    report({
      path: ["endpoints"],
      message: `resolution DNS_ROUND_ROBIN takes one endpoint, not ${spec.endpoints.length}`,
      hint: "DNS takes any number",
    });
  },
};

const dnsTcpHosts: Rule<ServiceEntry> = {
  id: "istio/dns-tcp-hosts",
  severity: "warning",
  check: ({ spec }, report) => {
    if (!usesDns(spec) || spec.addresses.length === 0 || spec.hosts.length < 2) return;
    const index = spec.ports.findIndex((port) => isTcp(port.protocol));
    if (index < 0) return;
    report({
      path: ["ports", index],
      message: `on TCP port ${
        spec.ports[index]!.number
      } the ${spec.hosts.length} hosts share the addresses and cannot be told apart`,
      hint: "make a service of its own for each host",
    });
  },
};

const dynamicDnsHosts: Rule<ServiceEntry> = {
  id: "istio/dynamic-dns-hosts",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "DYNAMIC_DNS") return;
    if (spec.hosts.length === 0) {
      report({ path: ["hosts"], message: "resolution DYNAMIC_DNS needs a wildcard host" });
    }
    spec.hosts.forEach((host, index) => {
      if (host.startsWith("*")) return;
      report({
        path: ["hosts", index],
        message: `resolution DYNAMIC_DNS takes wildcard hosts only, not ${quote(host)}`,
        hint: "resolution DNS looks up a single host",
      });
    });
  },
};

const dynamicDnsAddresses: Rule<ServiceEntry> = {
  id: "istio/dynamic-dns-addresses",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "DYNAMIC_DNS" || spec.addresses.length === 0) return;
    report({
      path: ["addresses"],
      message: "resolution DYNAMIC_DNS goes by the host alone, so it takes no addresses",
      hint: "remove `addresses`",
    });
  },
};

const dynamicDnsEndpoints: Rule<ServiceEntry> = {
  id: "istio/dynamic-dns-endpoints",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "DYNAMIC_DNS" || spec.endpoints.length === 0) return;
    report({
      path: ["endpoints"],
      message: "resolution DYNAMIC_DNS looks up the host that was called, so it takes no endpoints",
      hint: "remove `endpoints`",
    });
  },
};

const dynamicDnsProtocol: Rule<ServiceEntry> = {
  id: "istio/dynamic-dns-protocol",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution !== "DYNAMIC_DNS") return;
    spec.ports.forEach((port, index) => {
      const protocol = parseProtocol(port.protocol);
      if (protocol !== undefined && DYNAMIC_DNS_PROTOCOLS.has(protocol)) return;
      report({
        path: ["ports", index],
        message: `resolution DYNAMIC_DNS cannot tell the host of ${
          port.protocol === "" ? "an unnamed protocol" : quote(port.protocol)
        }`,
        hint: "HTTP, HTTP2, GRPC or TLS",
      });
    });
  },
};

const DYNAMIC_DNS_PROTOCOLS: ReadonlySet<string> = new Set(["http", "http2", "grpc", "tls"]);

const dynamicDnsLocation: Rule<ServiceEntry> = {
  id: "istio/dynamic-dns-location",
  severity: "error",
  check: ({ spec, metadata }, report) => {
    if (spec.resolution !== "DYNAMIC_DNS") return;
    const { location } = spec;
    if (location === "MESH_EXTERNAL") return;
    const path = ["location"];
    if (location !== "MESH_INTERNAL") {
      return report({
        path,
        message: `Istio knows no location ${location}`,
        hint: LOCATIONS.join(" or "),
      });
    }
    if (!usesWaypoint(metadata.labels[USE_WAYPOINT])) return;
    report({
      path,
      message: "behind a waypoint, resolution DYNAMIC_DNS is for hosts outside the mesh",
      hint: `MESH_EXTERNAL, or no label ${USE_WAYPOINT}`,
    });
  },
};

const multipleHosts: Rule<ServiceEntry> = {
  id: "istio/multiple-hosts",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution === "NONE" || spec.hosts.length < 2) return;
    const index = spec.ports.findIndex(({ protocol }) => !isHttp(protocol) && !isTls(protocol));
    if (index < 0) return;
    const { number, protocol } = spec.ports[index]!;
    report({
      path: ["ports", index],
      message: `on port ${number} (${
        protocol === "" ? "any protocol" : quote(protocol)
      }) the ${spec.hosts.length} hosts cannot be told apart`,
      hint: "make a service of its own for each host, or use HTTP or TLS",
    });
  },
};

/** Rules for a ServiceEntry that depend on its resolution. */
export const RESOLUTION_RULES: readonly Rule<ServiceEntry>[] = [
  known,
  noneEndpoints,
  noneSelector,
  dnsHosts,
  dnsRoundRobinEndpoints,
  dnsTcpHosts,
  dynamicDnsHosts,
  dynamicDnsAddresses,
  dynamicDnsEndpoints,
  dynamicDnsProtocol,
  dynamicDnsLocation,
  multipleHosts,
  ...ENTRY_RULES.map(forEndpoints),
];

/** The rule for an entry as one for every endpoint of a ServiceEntry, where its resolution takes endpoints. */
function forEndpoints({ id, severity, check }: EntryRule): Rule<ServiceEntry> {
  return {
    id,
    severity,
    check: ({ spec }, report) => {
      if (spec.endpoints.length === 0) return;
      const use = spec.resolution === "STATIC" ? "static" : usesDns(spec) ? "dns" : undefined;
      if (use === undefined) return;
      let ports: ReadonlySet<string> | undefined;
      const servicePorts = () => ports ??= new Set(spec.ports.map((port) => port.name));
      const context = { use, servicePorts } as const;
      let index = 0;
      const forward: Report = (problem) =>
        report({ ...problem, path: ["endpoints", index, ...problem.path] });
      for (; index < spec.endpoints.length; index++) {
        check(spec.endpoints[index]!, forward, context);
      }
    },
  };
}

function usesDns(spec: ServiceEntry): boolean {
  return spec.resolution === "DNS" || spec.resolution === "DNS_ROUND_ROBIN";
}

function usesWaypoint(label: string | undefined): boolean {
  return label !== undefined && label !== "" && !isEqualFold(label, "none");
}
