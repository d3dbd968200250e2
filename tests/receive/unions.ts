/** Unions of a few parts, and what to ask of them in tests. */
import { formatFinding } from "../../lib/model/finding.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { MergeMode } from "../../lib/model/settings.ts";
import { Union } from "../../lib/receive/union.ts";
import type { Partially, ServiceEntry } from "../../lib/wire/messages.ts";
import { decoded, entries, entry } from "./entries.ts";

/** Names in the union, each with whose it is. */
export function owners(union: Union, kind = "ServiceEntry"): string[] {
  return Array.from(
    union.collections.get(kind)!,
    ({ name }) => `${name} ${union.owner(kind, name)}`,
  );
}

/** What it finds, as a person reads it. */
export function texts(union: Union): string[] {
  return union.findings().map(formatFinding);
}

/** A union of these parts, in this order. */
export function unite(
  parts: Readonly<Record<string, readonly Resource[]>>,
  merge: MergeMode = "refuse",
): Union {
  const union = new Union({ merge });
  for (const [name, resources] of Object.entries(parts)) union.set(name, entries(...resources));
  return union;
}

/** A single endpoint at this address. */
export function at(address: string): Pick<Partially<ServiceEntry>, "endpoints"> {
  return { endpoints: [{ address }] };
}

/** A ServiceEntry of host `h` with an endpoint at each of these addresses, but for what is given. */
export function shared(
  name: string,
  addresses: readonly string[],
  spec: Partially<ServiceEntry> = {},
): Resource {
  return entry(name, {
    hosts: ["h"],
    endpoints: addresses.map((address) => ({ address })),
    ...spec,
  });
}

/** What is served: each entry as `name owner: address@source …`. */
export function served(union: Union): string[] {
  return Array.from(union.collections.get("ServiceEntry")!, (resource) => {
    const ends = decoded(resource).endpoints.map(({ address, labels }) =>
      "pinnace-source" in labels ? `${address}@${labels["pinnace-source"]}` : address
    );
    return `${resource.name} ${union.owner("ServiceEntry", resource.name)}: ${ends.join(" ")}`;
  });
}
