/**
 * What Pinnace asks of a ServiceEntry beyond Istio: things that Istio takes and that then do not do
 * what was meant.
 *
 * @module
 */
import type { ServiceEntry } from "../../wire/messages.ts";
import { isAddress } from "./addresses.ts";
import { enumerate, isPartialWildcard, quote } from "./names.ts";
import type { Rule } from "./rule.ts";

/** Ports of a sidecar's own catch-all listeners. */
const SIDECAR_PORTS: ReadonlySet<number> = new Set([15001, 15006]);

const partialWildcard: Rule<ServiceEntry> = {
  id: "pinnace/partial-wildcard",
  severity: "error",
  replaces: "istio/host-partial-wildcard",
  check: ({ spec }, report) => {
    if (spec.resolution === "DYNAMIC_DNS") return;
    spec.hosts.forEach((host, index) => {
      if (!isPartialWildcard(host)) return;
      report({
        path: ["hosts", index],
        message: `the wildcard of ${quote(host)} is not its whole first label; ` +
          "as a TLS name, Envoy refuses the whole listener for it",
        hint: "write *.example.com, or use resolution DYNAMIC_DNS",
      });
    });
  },
};

const shortHost: Rule<ServiceEntry> = {
  id: "pinnace/short-host",
  severity: "warning",
  check: ({ spec }, report) => {
    spec.hosts.forEach((host, index) => {
      if (host === "" || host.includes(".") || host.includes("*") || isAddress(host)) return;
      report({
        path: ["hosts", index],
        message: `the host ${quote(host)} has no domain`,
        hint: "name it in full, as clients call it: short names are expanded to a namespace",
      });
    });
  },
};

const repeatedHost: Rule<ServiceEntry> = {
  id: "pinnace/repeated-host",
  severity: "error",
  check: ({ spec }, report) => {
    if (spec.hosts.length < 2) return;
    const seen = new Set<string>();
    spec.hosts.forEach((host, index) => {
      const key = host.toLowerCase();
      if (seen.has(key)) {
        report({
          path: ["hosts", index],
          message: `the host ${quote(host)} is there twice`,
          hint: "remove one",
        });
      }
      seen.add(key);
    });
  },
};

const clusterHost: Rule<ServiceEntry> = {
  id: "pinnace/cluster-host",
  severity: "warning",
  check: ({ spec, metadata }, report) => {
    spec.hosts.forEach((host, index) => {
      const [name, namespace, svc] = host.split(".");
      if (svc !== "svc" || name === undefined || namespace === undefined) return;
      const kubernetes = name === "kubernetes" && namespace === "default";
      if (namespace === metadata.namespace && !kubernetes) return;
      report({
        path: ["hosts", index],
        message: `the host ${quote(host)} belongs to ${
          kubernetes ? "the Kubernetes API server" : `namespace ${quote(namespace)}`
        }`,
        hint: "where such a Kubernetes Service exists, sidecars get two of one host",
      });
    });
  },
};

const sidecarPorts: Rule<ServiceEntry> = {
  id: "pinnace/sidecar-port",
  severity: "warning",
  check: ({ spec }, report) => {
    if (!spec.addresses.some((address) => address.includes("/"))) return;
    spec.ports.forEach((port, index) => {
      if (!SIDECAR_PORTS.has(port.number)) return;
      report({
        path: ["ports", index],
        message: `with a CIDR block, port ${port.number} collides with a listener of every sidecar`,
        hint: "choose another port, or list single addresses",
      });
    });
  },
};

const endpointPorts: Rule<ServiceEntry> = {
  id: "pinnace/endpoint-ports",
  severity: "warning",
  check: ({ spec }, report) => {
    if (spec.ports.length < 2) return;
    spec.endpoints.forEach(({ ports }, index) => {
      const names = Object.keys(ports);
      const missing = spec.ports.filter(({ name }) => !Object.hasOwn(ports, name));
      if (names.length === 0 || missing.length === 0) return;
      report({
        path: ["endpoints", index, "ports"],
        message: `the endpoint names only ${enumerate(names)}; Istio uses it for ${
          enumerate(missing.map(({ name }) => name))
        } as well`,
        hint: "name every port, or make a service of its own for each",
      });
    });
  },
};

const repeatedEndpoint: Rule<ServiceEntry> = {
  id: "pinnace/repeated-endpoint",
  severity: "warning",
  check: ({ spec }, report) => {
    const { endpoints } = spec;
    if (endpoints.length < 2) return;
    if (new Set(endpoints.map(({ address }) => address)).size === endpoints.length) return;
    const seen = new Set<string>();
    endpoints.forEach(({ address, ports }, index) => {
      if (address === "") return;
      // One address with other ports is another endpoint.
      const targets = spec.ports.map((port) =>
        ports[port.name] ?? (port.targetPort || port.number)
      );
      const key = `${address} ${targets.join()}`;
      if (seen.has(key)) {
        report({
          path: ["endpoints", index],
          message: `the endpoint ${quote(address)} is there twice`,
          hint: "remove one; a larger share of the traffic is said by `weight`",
        });
      }
      seen.add(key);
    });
  },
};

/** Our own rules for a ServiceEntry. */
export const STRICT_RULES: readonly Rule<ServiceEntry>[] = [
  partialWildcard,
  shortHost,
  repeatedHost,
  clusterHost,
  sidecarPorts,
  endpointPorts,
  repeatedEndpoint,
];
