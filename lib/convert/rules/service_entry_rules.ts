/**
 * Rules for a ServiceEntry: hosts, addresses, ports, selector and visibility. What depends on the
 * resolution stands in `resolution_rules.ts`, what Pinnace asks beyond Istio in `strict_rules.ts`.
 *
 * @module
 */
import type { ServiceEntry } from "../../wire/messages.ts";
import { isAddress, isAddressOrPrefix } from "./addresses.ts";
import { METADATA_RULES } from "./metadata_rules.ts";
import { isEqualFold, isIstioLabel, isPartialWildcard, isWildcardDomain, quote } from "./names.ts";
import { parseProtocol, PROTOCOL_NAMES } from "./protocols.ts";
import { RESOLUTION_RULES } from "./resolution_rules.ts";
import type { Rule, Subject } from "./rule.ts";
import { STRICT_RULES } from "./strict_rules.ts";

const AUTO_ALLOCATE = "networking.istio.io/enable-autoallocate-ip";

const selectorLabels: Rule<ServiceEntry> = {
  id: "istio/selector-labels",
  severity: "error",
  check: ({ spec: { workloadSelector } }, report) => {
    if (workloadSelector === undefined) return;
    for (const key in workloadSelector.labels) {
      const value = workloadSelector.labels[key]!;
      const path = ["workloadSelector", "labels", key];
      if (key === "") report({ path, message: "a selector has a label without a key" });
      if (key.includes("*") || value.includes("*")) {
        report({
          path,
          message: `a selector knows no wildcard: ${quote(`${key}=${value}`)}`,
          hint: "name the label in full",
        });
      }
    }
  },
};

const selectorEmpty: Rule<ServiceEntry> = {
  id: "istio/selector-empty",
  severity: "warning",
  check: ({ spec: { workloadSelector } }, report) => {
    if (workloadSelector === undefined || Object.keys(workloadSelector.labels).length > 0) return;
    report({
      path: ["workloadSelector"],
      message: "a selector without labels takes every workload of the namespace",
      hint: "give it labels, or remove it",
    });
  },
};

const selectorOrEndpoints: Rule<ServiceEntry> = {
  id: "istio/selector-or-endpoints",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.workloadSelector === undefined || spec.endpoints.length === 0) return;
    report({
      path: ["workloadSelector"],
      message: "a service has either endpoints or a selector, not both",
      hint: "remove one of them",
    });
  },
};

const hostsRequired: Rule<ServiceEntry> = {
  id: "istio/hosts-required",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.hosts.length === 0) report({ path: ["hosts"], message: "a service needs a host" });
  },
};

const host: Rule<ServiceEntry> = {
  id: "istio/host",
  severity: "error",
  check: ({ spec }, report) => {
    spec.hosts.forEach((host, index) => {
      if (host !== "*" && isWildcardDomain(host)) return;
      report({
        path: ["hosts", index],
        message: `${quote(host)} cannot be a host`,
        hint: hostHint(host),
      });
    });
  },
};

const hostPartialWildcard: Rule<ServiceEntry> = {
  id: "istio/host-partial-wildcard",
  severity: "warning",
  check: ({ spec }, report) => {
    if (spec.resolution === "DYNAMIC_DNS") return;
    spec.hosts.forEach((host, index) => {
      if (!isPartialWildcard(host)) return;
      report({
        path: ["hosts", index],
        message: `the wildcard of ${quote(host)} is not its whole first label`,
        hint: "write *.example.com",
      });
    });
  },
};

const address: Rule<ServiceEntry> = {
  id: "istio/address",
  severity: "error",
  check: ({ spec }, report) => {
    spec.addresses.forEach((address, index) => {
      if (isAddressOrPrefix(address)) return;
      report({
        path: ["addresses", index],
        message: `${quote(address)} is neither an IP address nor a CIDR block`,
        hint: "10.0.0.1, 10.0.0.0/16 or 2001:db8::/32",
      });
    });
  },
};

const cidrResolution: Rule<ServiceEntry> = {
  id: "istio/cidr-resolution",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.resolution === "NONE" || spec.resolution === "STATIC") return;
    const index = spec.addresses.findIndex((address) => address.includes("/"));
    if (index < 0) return;
    report({
      path: ["addresses", index],
      message: "a CIDR block needs resolution NONE or STATIC",
      hint: "list single addresses, or change the resolution",
    });
  },
};

const portNameUnique: Rule<ServiceEntry> = {
  id: "istio/port-name-unique",
  severity: "error",
  check: ({ spec }, report) => {
    forEachRepeated(spec.ports, (port) => port.name, (index, first) =>
      report({
        path: ["ports", index],
        message: `two ports are named ${quote(spec.ports[index]!.name)}`,
        hint: `the other is port ${spec.ports[first]!.number}; give each a name of its own`,
      }));
  },
};

const portNumberUnique: Rule<ServiceEntry> = {
  id: "istio/port-number-unique",
  severity: "error",
  check: ({ spec }, report) => {
    forEachRepeated(spec.ports, (port) => port.number, (index, first) =>
      report({
        path: ["ports", index],
        message: `port ${spec.ports[index]!.number} is there twice`,
        hint: `the other is named ${quote(spec.ports[first]!.name)}; remove one`,
      }));
  },
};

const targetPort: Rule<ServiceEntry> = {
  id: "istio/target-port",
  severity: "error",
  check: ({ spec }, report) => {
    spec.ports.forEach((port, index) => {
      if (port.targetPort === 0 || isPort(port.targetPort)) return;
      report({
        path: ["ports", index, "targetPort"],
        message: `${port.targetPort} is not a port number`,
        hint: "1 to 65535",
      });
    });
  },
};

const tcpWithoutAddress: Rule<ServiceEntry> = {
  id: "istio/tcp-without-address",
  severity: "warning",
  check: (subject, report) => {
    const { spec } = subject;
    if (spec.addresses.length > 0 || getsAddress(subject)) return;
    spec.ports.forEach((port, index) => {
      if (port.protocol !== "" && port.protocol !== "TCP") return;
      report({
        path: ["ports", index],
        message:
          `TCP port ${port.number} belongs to this service only by an address, and it has none`,
        hint: "give the service `addresses`, or the port another protocol",
      });
    });
  },
};

const portName: Rule<ServiceEntry> = {
  id: "istio/port-name",
  severity: "error",
  check: ({ spec }, report) => {
    spec.ports.forEach((port, index) => {
      if (isIstioLabel(port.name)) return;
      report({
        path: ["ports", index, "name"],
        message: port.name === ""
          ? "a port needs a name"
          : `${quote(port.name)} cannot be the name of a port`,
        hint: "letters, digits and '-', 63 at most, a letter or digit at either end",
      });
    });
  },
};

const portProtocol: Rule<ServiceEntry> = {
  id: "istio/port-protocol",
  severity: "error",
  check: ({ spec }, report) => {
    spec.ports.forEach((port, index) => {
      if (port.protocol === "" || parseProtocol(port.protocol) !== undefined) return;
      report({
        path: ["ports", index, "protocol"],
        message: `Istio knows no protocol ${quote(port.protocol)}`,
        hint: `one of ${PROTOCOL_NAMES}`,
      });
    });
  },
};

const portNumber: Rule<ServiceEntry> = {
  id: "istio/port-number",
  severity: "error",
  check: ({ spec }, report) => {
    spec.ports.forEach((port, index) => {
      if (isPort(port.number)) return;
      report({
        path: ["ports", index, "number"],
        message: `${port.number} is not a port number`,
        hint: "1 to 65535",
      });
    });
  },
};

const exportTo: Rule<ServiceEntry> = {
  id: "istio/export-to",
  severity: "error",
  check: ({ spec, metadata: { namespace } }, report) => {
    const seen = new Set<string>();
    spec.exportTo.forEach((entry, index) => {
      const path = ["exportTo", index];
      const key = entry === "." ? namespace : entry;
      if (seen.has(key)) {
        const message = key === entry
          ? `${quote(entry)} is there twice`
          : `"." and ${quote(namespace)} are the same namespace`;
        return report({ path, message, hint: "remove one" });
      }
      if (entry === "~" || key === "." || key === "*" || isIstioLabel(key)) {
        return void seen.add(key);
      }
      report({
        path,
        message: `${quote(entry)} is no namespace`,
        hint: '"*" is all of them, "." this one, "~" none, else a name',
      });
    });
    if (spec.exportTo.length < 2) return;
    for (const [sign, meaning] of [["*", "every namespace"], ["~", "no namespace"]] as const) {
      if (!seen.has(sign)) continue;
      report({
        path: ["exportTo"],
        message: `"${sign}" already means ${meaning}`,
        hint: "let it stand alone",
      });
    }
  },
};

/** Rules for a ServiceEntry, Istio's and ours. */
export const SERVICE_ENTRY_RULES: readonly Rule<ServiceEntry>[] = [
  ...METADATA_RULES,
  hostsRequired,
  host,
  hostPartialWildcard,
  address,
  cidrResolution,
  portNameUnique,
  portNumberUnique,
  portNumber,
  portName,
  portProtocol,
  targetPort,
  tcpWithoutAddress,
  selectorLabels,
  selectorEmpty,
  selectorOrEndpoints,
  ...RESOLUTION_RULES,
  exportTo,
  ...STRICT_RULES,
];

/** Whether Istio, by its defaults, would give the service an address of its own choice. */
function getsAddress({ metadata, spec }: Subject<ServiceEntry>): boolean {
  const wish = metadata.labels[AUTO_ALLOCATE];
  return spec.resolution !== "NONE" && spec.addresses.length === 0 &&
    !(wish !== undefined && isEqualFold(wish, "false"));
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65535;
}

function hostHint(host: string): string {
  if (host === "*") return "the wildcard needs a domain: *.example.com";
  if (isAddress(host)) return "an IP address belongs in `addresses`";
  if (host.includes("://")) return "write the host alone, without a scheme";
  if (/^[^:]+:[0-9]+$/.test(host)) return "the port belongs in `ports`";
  return "api.example.com or *.example.com; letters, digits and '-' between the dots";
}

/** Calls back for each item whose key an earlier item has. */
function forEachRepeated<T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  callback: (index: number, first: number) => void,
): void {
  if (items.length < 2) return;
  const first = new Map<unknown, number>();
  items.forEach((item, index) => {
    const key = keyOf(item);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, index);
    else callback(index, earlier);
  });
}
