/**
 * Rules for a WorkloadEntry, be it an object of its own or an endpoint of a ServiceEntry.
 *
 * @module
 */
import type { WorkloadEntry } from "../../wire/messages.ts";
import { isAddress } from "./addresses.ts";
import {
  enumerate,
  isDomain,
  isIstioLabel,
  isIstioTagKey,
  isIstioTagValue,
  quote,
} from "./names.ts";
import { METADATA_RULES } from "./metadata_rules.ts";
import type { Report, Rule, RuleInfo } from "./rule.ts";

const UNIX = "unix://";

/** Longest path of a unix socket: Linux holds 108 bytes, the last of them a zero. */
const UNIX_PATH_LENGTH = 107;

/** What an entry is judged by besides itself. */
export interface EntryContext {
  /** Where addresses come from: IP or socket (`static`), IP or host (`dns`), or any of these (`alone`). */
  readonly use: "static" | "dns" | "alone";
  /** Distinct names of the ports of the ServiceEntry; undefined where the entry stands alone. */
  readonly servicePorts: () => ReadonlySet<string> | undefined;
}

/** A rule for one entry; paths are relative to it. */
export interface EntryRule extends RuleInfo {
  readonly check: (entry: WorkloadEntry, report: Report, context: EntryContext) => void;
}

const addressRequired: EntryRule = {
  id: "istio/endpoint-address-required",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use === "dns" || !lacksAddress(entry)) return;
    report({
      path: ["address"],
      message: "an endpoint needs an address",
      hint: "or a network, whose gateway then stands for it",
    });
  },
};

const addressUnset: EntryRule = {
  id: "istio/endpoint-address-unset",
  severity: "warning",
  check: (entry, report, { use }) => {
    if (use === "dns" || entry.address !== "" || entry.network === "") return;
    report({
      path: ["address"],
      message: `without an address, the endpoint is reached by the gateway of network ${
        quote(entry.network)
      } only`,
    });
  },
};

const addressForm: EntryRule = {
  id: "istio/endpoint-address",
  severity: "error",
  check: (entry, report, { use }) => {
    const { address } = entry;
    if (use !== "dns" && (address === "" || isUnix(address))) return;
    if (isAddress(address) || (use !== "static" && isDomain(address))) return;
    report({
      path: ["address"],
      message: use === "static"
        ? `${quote(address)} is not an IP address`
        : `${quote(address)} is neither an IP address nor a domain name`,
      hint: addressHint(address, use),
    });
  },
};

const unixPath: EntryRule = {
  id: "istio/endpoint-unix-path",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use === "dns" || !isUnix(entry.address)) return;
    const path = entry.address.slice(UNIX.length);
    if (path.startsWith("@") || (path.startsWith("/") && !path.endsWith("/"))) return;
    report({
      path: ["address"],
      message: `${quote(path)} is not an absolute path to a socket`,
      hint: "write unix:///path/to/socket, or unix://@name for an abstract one",
    });
  },
};

const unixPorts: EntryRule = {
  id: "istio/endpoint-unix-ports",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use === "dns" || !isUnix(entry.address) || Object.keys(entry.ports).length === 0) return;
    report({
      path: ["ports"],
      message: "an endpoint on a unix socket has no ports",
      hint: "remove `ports`",
    });
  },
};

const unixServicePort: EntryRule = {
  id: "istio/endpoint-unix-service-port",
  severity: "error",
  check: (entry, report, { use, servicePorts }) => {
    if (use === "dns" || !isUnix(entry.address)) return;
    const count = servicePorts()?.size ?? 1;
    if (count === 1) return;
    report({
      path: ["address"],
      message: `a unix socket serves exactly one port, the service has ${count}`,
      hint: "make a service of its own for each port",
    });
  },
};

const portUndefined: EntryRule = {
  id: "istio/endpoint-port-undefined",
  severity: "error",
  check: (entry, report, { use, servicePorts }) => {
    if (use !== "dns" && lacksAddress(entry)) return;
    for (const name in entry.ports) {
      const known = servicePorts();
      if (known === undefined || known.has(name)) continue;
      report({
        path: ["ports", name],
        message: `the service has no port named ${quote(name)}`,
        hint: known.size === 0
          ? "the service has no ports at all"
          : `its ports are ${enumerate([...known])}`,
      });
    }
  },
};

const portName: EntryRule = {
  id: "istio/endpoint-port-name",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use !== "dns" && lacksAddress(entry)) return;
    for (const name in entry.ports) {
      if (isIstioLabel(name)) continue;
      report({
        path: ["ports", name],
        message: `${quote(name)} cannot be the name of a port`,
        hint: "letters, digits and '-', 63 at most, a letter or digit at either end",
      });
    }
  },
};

const portNumber: EntryRule = {
  id: "istio/endpoint-port-number",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use !== "dns" && lacksAddress(entry)) return;
    for (const name in entry.ports) {
      const number = entry.ports[name]!;
      if (number >= 1 && number <= 65535) continue;
      report({
        path: ["ports", name],
        message: `${number} is not a port number`,
        hint: "1 to 65535",
      });
    }
  },
};

const labels: EntryRule = {
  id: "istio/endpoint-labels",
  severity: "error",
  check: (entry, report, { use }) => {
    if (use !== "dns" && lacksAddress(entry)) return;
    for (const key in entry.labels) {
      const value = entry.labels[key]!;
      if (!isIstioTagKey(key)) {
        report({
          path: ["labels", key],
          message: `${quote(key)} cannot be the key of a label`,
        });
      }
      if (!isIstioTagValue(value)) {
        report({
          path: ["labels", key],
          message: `${quote(value)} cannot be the value of a label`,
        });
      }
    }
  },
};

const unixPathLength: EntryRule = {
  id: "pinnace/unix-path-length",
  severity: "error",
  check: (entry, report) => {
    if (!isUnix(entry.address)) return;
    const length = new TextEncoder().encode(entry.address).length - UNIX.length;
    if (length <= UNIX_PATH_LENGTH) return;
    report({
      path: ["address"],
      message: `the path of the socket has ${length} bytes`,
      hint: `${UNIX_PATH_LENGTH} at most, or Envoy refuses the whole cluster`,
    });
  },
};

const locality: EntryRule = {
  id: "pinnace/locality",
  severity: "warning",
  check: (entry, report) => {
    const parts = entry.locality.split("/");
    if (entry.locality === "" || (parts.length <= 3 && !parts.includes(""))) return;
    report({
      path: ["locality"],
      message: `${quote(entry.locality)} is not a locality as Istio reads it`,
      hint: "write region, region/zone or region/zone/subzone",
    });
  },
};

const ALONE: EntryContext = { use: "alone", servicePorts: () => undefined };

/** Rules for one entry. */
export const ENTRY_RULES: readonly EntryRule[] = [
  addressRequired,
  addressUnset,
  addressForm,
  unixPath,
  unixPorts,
  unixServicePort,
  portUndefined,
  portName,
  portNumber,
  labels,
  unixPathLength,
  locality,
];

/** Rules for a WorkloadEntry that is an object of its own. */
export const WORKLOAD_ENTRY_RULES: readonly Rule<WorkloadEntry>[] = [
  ...METADATA_RULES,
  ...ENTRY_RULES.map(({ id, severity, check }): Rule<WorkloadEntry> => ({
    id,
    severity,
    check: ({ spec }, report) => check(spec, report, ALONE),
  })),
];

/** Whether an address names a unix socket. */
export function isUnix(address: string): boolean {
  return address.startsWith(UNIX);
}

/** Where there is neither address nor network, Istio says so and looks no further. */
function lacksAddress(entry: WorkloadEntry): boolean {
  return entry.address === "" && entry.network === "";
}

function addressHint(address: string, use: EntryContext["use"]): string {
  if (isUnix(address)) return "a unix socket needs resolution STATIC";
  if (/^[0-9.]+:[0-9]+$/.test(address)) return "the port belongs in `ports`";
  if (use === "static" && isDomain(address)) return "a host name needs resolution DNS";
  return use === "static" ? "10.0.0.1, 2001:db8::1 or unix:///path" : "10.0.0.1 or api.example.com";
}
