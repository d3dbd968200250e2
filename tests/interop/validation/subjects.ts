/**
 * The objects that both judges are asked about: each value of each pool by itself in an object that is
 * right otherwise, the corners of Istio's rules by hand, and objects made by chance from a seed.
 *
 * @module
 */
import type { Metadata } from "../../../lib/convert/rules/rule.ts";
import type { Partially, ServiceEntry, WorkloadEntry } from "../../../lib/wire/messages.ts";
import {
  ADDRESSES,
  ANNOTATIONS,
  EXPORTS,
  HOSTS,
  LABELS,
  LOCATIONS,
  NAMESPACES,
  NUMBERS,
  OBJECT_LABELS,
  PORT_NAMES,
  PROTOCOLS,
  RESOLUTIONS,
} from "./pools.ts";

/** An object for both judges. */
export type Subject =
  & { readonly title: string; readonly metadata: Metadata }
  & (
    | { readonly kind: "ServiceEntry"; readonly spec: Partially<ServiceEntry> }
    | { readonly kind: "WorkloadEntry"; readonly spec: Partially<WorkloadEntry> }
  );

const METADATA: Metadata = { name: "orders", namespace: "default", labels: {}, annotations: {} };
const PORT = { number: 80, name: "http", protocol: "HTTP" };
const TCP = { number: 5432, name: "tcp", protocol: "TCP" };

/** A ServiceEntry of each resolution that Istio takes as it is. */
const SOUND: readonly Partially<ServiceEntry>[] = [
  { hosts: ["*.example.com"], ports: [PORT], resolution: "NONE" },
  {
    hosts: ["api.example.com"],
    ports: [PORT],
    resolution: "STATIC",
    endpoints: [{ address: "10.0.0.1" }],
  },
  {
    hosts: ["api.example.com"],
    ports: [PORT],
    resolution: "DNS",
    endpoints: [{ address: "backend.example.com" }],
  },
  { hosts: ["api.example.com"], ports: [PORT], resolution: "DNS_ROUND_ROBIN" },
  { hosts: ["*.example.com"], ports: [PORT], resolution: "DYNAMIC_DNS" },
];

/** Every value of every pool, by itself, under every resolution. */
export function* singleChanges(): Iterable<Subject> {
  for (const sound of SOUND) {
    const title = String(sound.resolution);
    for (const host of HOSTS) yield entry(`${title}, host`, { ...sound, hosts: [host] });
    for (const address of ADDRESSES) {
      yield entry(`${title}, address`, { ...sound, addresses: [address] });
      yield entry(`${title}, endpoint`, { ...sound, endpoints: [{ address }] });
      yield entry(`${title}, endpoint of a network`, {
        ...sound,
        endpoints: [{ address, network: "edge", ports: { http: 8080 } }],
      });
    }
    for (const name of PORT_NAMES) {
      yield entry(`${title}, port name`, { ...sound, ports: [{ ...PORT, name }] });
      yield entry(`${title}, endpoint port name`, {
        ...sound,
        ports: [{ ...PORT, name }],
        endpoints: [{ address: "10.0.0.1", ports: { [name]: 8080 } }],
      });
      yield entry(`${title}, endpoint port unknown`, {
        ...sound,
        endpoints: [{ address: "10.0.0.1", ports: { [name]: 8080 } }],
      });
    }
    for (const protocol of PROTOCOLS) {
      yield entry(`${title}, protocol`, { ...sound, ports: [{ ...PORT, protocol }] });
      yield entry(`${title}, protocol and address`, {
        ...sound,
        addresses: ["10.0.0.1"],
        ports: [{ ...PORT, protocol }],
      });
      yield entry(`${title}, protocol of two hosts`, {
        ...sound,
        hosts: ["a.example.com", "b.example.com"],
        addresses: ["10.0.0.1"],
        ports: [{ ...PORT, protocol }, { ...PORT, name: "b", number: 81 }],
      });
    }
    for (const number of NUMBERS) {
      yield entry(`${title}, port`, { ...sound, ports: [{ ...PORT, number }] });
      yield entry(`${title}, target port`, { ...sound, ports: [{ ...PORT, targetPort: number }] });
      yield entry(`${title}, endpoint port`, {
        ...sound,
        endpoints: [{ address: "10.0.0.1", ports: { http: number } }],
      });
    }
    for (const [key, value] of LABELS) {
      const labels = { [key]: value };
      yield entry(`${title}, label`, { ...sound, endpoints: [{ address: "10.0.0.1", labels }] });
      yield entry(`${title}, selector`, {
        ...sound,
        endpoints: [],
        workloadSelector: { labels },
      });
    }
    for (const exportTo of EXPORTS) {
      for (const namespace of NAMESPACES) {
        yield entry(`${title}, exportTo`, { ...sound, exportTo }, { namespace });
      }
    }
    for (const labels of OBJECT_LABELS) {
      for (const location of LOCATIONS) {
        yield entry(`${title}, location`, { ...sound, location }, { labels });
      }
      yield entry(`${title}, TCP`, { ...sound, ports: [TCP, PORT] }, { labels });
    }
    for (const annotations of ANNOTATIONS) {
      yield entry(`${title}, annotation`, sound, { annotations });
    }
    for (const resolution of RESOLUTIONS) {
      yield entry(`${title} as ${resolution}`, { ...sound, resolution });
    }
  }
  yield* workloads();
}

function* workloads(): Iterable<Subject> {
  for (const address of ADDRESSES) {
    yield workload("address", { address });
    yield workload("address with ports", { address, ports: { http: 80 } });
    yield workload("address and network", { address, network: "edge" });
  }
  for (const host of HOSTS) yield workload("host", { address: host });
  for (const name of PORT_NAMES) {
    yield workload("port name", { address: "10.0.0.1", ports: { [name]: 80 } });
  }
  for (const number of NUMBERS) {
    yield workload("port", { address: "10.0.0.1", ports: { http: number } });
  }
  for (const [key, value] of LABELS) {
    yield workload("label", { address: "10.0.0.1", labels: { [key]: value } });
    yield workload("label, no address", { labels: { [key]: value } });
  }
  for (const annotations of ANNOTATIONS) {
    yield workload("annotation", { address: "10.0.0.1" }, { annotations });
  }
}

/** What no single value brings about. */
export function* corners(): Iterable<Subject> {
  const [none, stat, dns, rr, dynamic] = SOUND as [
    Partially<ServiceEntry>,
    Partially<ServiceEntry>,
    Partially<ServiceEntry>,
    Partially<ServiceEntry>,
    Partially<ServiceEntry>,
  ];
  yield entry("nothing at all", {});
  for (const resolution of RESOLUTIONS) yield entry(`only ${resolution}`, { resolution });
  for (const sound of SOUND) {
    const title = String(sound.resolution);
    yield entry(`${title} without hosts`, { ...sound, hosts: [] });
    yield entry(`${title} without ports`, { ...sound, ports: [] });
    yield entry(`${title} without endpoints`, { ...sound, endpoints: [] });
    yield entry(`${title}, empty selector`, { ...sound, endpoints: [], workloadSelector: {} });
    yield entry(`${title}, selector`, {
      ...sound,
      endpoints: [],
      workloadSelector: { labels: { app: "orders" } },
    });
    yield entry(`${title}, selector and endpoints`, {
      ...sound,
      endpoints: [{ address: "10.0.0.1" }],
      workloadSelector: { labels: { app: "orders" } },
    });
    yield entry(`${title}, same port twice`, { ...sound, ports: [PORT, PORT, PORT] });
    yield entry(`${title}, same port name`, { ...sound, ports: [PORT, { ...PORT, number: 81 }] });
    yield entry(`${title}, same port number`, { ...sound, ports: [PORT, { ...PORT, name: "b" }] });
    yield entry(`${title}, two endpoints`, {
      ...sound,
      endpoints: [{ address: "10.0.0.1" }, { address: "b.example.com" }],
    });
    yield entry(`${title}, empty endpoint`, { ...sound, endpoints: [{}] });
    yield entry(`${title}, empty endpoint of a network`, {
      ...sound,
      endpoints: [{ network: "edge" }],
    });
    yield entry(`${title}, several wrong endpoints`, {
      ...sound,
      endpoints: [
        {
          address: "x_y",
          ports: { nope: 0, http: 70000, "a_b": 1 },
          labels: { "": "*", a: "b c" },
        },
        { ports: { nope: 0 }, labels: { "": "" } },
        { address: "unix:///a/", ports: { nope: 0 } },
      ],
    });
    yield entry(`${title}, two hosts`, { ...sound, hosts: ["a.example.com", "b.example.com"] });
    yield entry(`${title}, two hosts on TCP`, {
      ...sound,
      hosts: ["a.example.com", "b.example.com"],
      ports: [TCP, { ...TCP, name: "tcp2", number: 2 }],
    });
    yield entry(`${title}, two hosts on TCP with an address`, {
      ...sound,
      hosts: ["a.example.com", "b.example.com"],
      addresses: ["10.0.0.1"],
      ports: [PORT, TCP],
    });
    yield entry(`${title}, a block`, { ...sound, addresses: ["10.0.0.0/8"] });
    yield entry(`${title}, a block and more`, {
      ...sound,
      addresses: ["10.0.0.1", "10.0.0.0/8", "x/y", "fe80::1%a/b/c"],
    });
    yield entry(`${title}, TCP without address`, { ...sound, ports: [TCP] });
    yield entry(`${title}, any protocol without address`, {
      ...sound,
      ports: [{ ...TCP, protocol: "" }],
    });
  }
  const unix = { ...stat, endpoints: [{ address: "unix:///run/app.sock" }] };
  yield entry("unix, one port", unix);
  yield entry("unix, no port", { ...unix, ports: [] });
  yield entry("unix, two ports", { ...unix, ports: [PORT, TCP] });
  yield entry("unix, two ports of one name", { ...unix, ports: [PORT, { ...PORT, number: 81 }] });
  yield entry("unix in DNS", { ...dns, endpoints: unix.endpoints });
  yield entry("wildcard in DNS", { ...dns, hosts: ["*.example.com"] });
  yield entry("wildcards in DNS without endpoints", {
    ...dns,
    hosts: ["*.example.com", "*.example.org"],
    endpoints: [],
  });
  yield entry("selector of wildcards", {
    ...rr,
    workloadSelector: { labels: { "": "", "*": "*", a: "b" } },
  });
  yield entry("endpoints of DYNAMIC_DNS", {
    ...dynamic,
    addresses: ["10.0.0.1"],
    endpoints: [{ address: "a_b" }],
    hosts: ["a.example.com", "*.example.com", "*"],
  });
  yield entry("endpoints of NONE", { ...none, endpoints: [{ address: "a_b" }, {}] });
  yield entry("all fields", {
    ...stat,
    addresses: ["240.0.0.1"],
    location: "MESH_INTERNAL",
    exportTo: ["."],
    subjectAltNames: ["spiffe://cluster.local/ns/default/sa/orders"],
    endpoints: [{
      address: "10.0.0.1",
      ports: { http: 8080 },
      labels: { app: "orders" },
      network: "edge",
      locality: "eu/fra/a",
      weight: 3,
      serviceAccount: "orders",
    }],
  });
  yield workload("nothing at all", {});
  yield workload("all fields", {
    address: "10.0.0.1",
    ports: { http: 8080, grpc: 9090 },
    labels: { app: "orders" },
    network: "edge",
    locality: "eu/fra/a",
    weight: 3,
    serviceAccount: "orders",
  });
  yield workload("unix with ports", { address: "unix:///a", ports: { http: 1 } });
}

function entry(
  title: string,
  spec: Partially<ServiceEntry>,
  metadata: Partial<Metadata> = {},
): Subject {
  return { title, kind: "ServiceEntry", metadata: { ...METADATA, ...metadata }, spec };
}

function workload(
  title: string,
  spec: Partially<WorkloadEntry>,
  metadata: Partial<Metadata> = {},
): Subject {
  return { title, kind: "WorkloadEntry", metadata: { ...METADATA, ...metadata }, spec };
}
