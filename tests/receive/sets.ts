/** Sets of sources to store. */
import type { StoredSource } from "../../lib/receive/received.ts";
import { applyPush, emptySet } from "../../lib/receive/source_set.ts";
import { contentHash } from "../../lib/wire/hash.ts";

/** A source with ServiceEntries of these texts, by name; it calls each version by the beginning of its text. */
export function stored(
  name: string,
  texts: Readonly<Record<string, string>>,
  rest: Partial<StoredSource> = {},
): StoredSource {
  const resources = Object.entries(texts).map(([name, text]) => {
    const bytes = new TextEncoder().encode(text);
    return {
      resource: { name, version: contentHash([bytes]), bytes },
      told: `told ${text.slice(0, 40)}`,
    };
  });
  const head = { type: "", nonce: "", version: "", incremental: true };
  const set = applyPush(rest.set ?? emptySet(), {
    kind: "accepted",
    head,
    kindName: "ServiceEntry",
    resources,
    removed: [],
    findings: [],
  });
  return { name, firstSeen: 1000, ...rest, set };
}

/** A source with `count` ServiceEntries `shop/svc-0`… of about `bytes` bytes each. */
export function large(name: string, count: number, bytes = 300): StoredSource {
  return stored(
    name,
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`shop/svc-${i}`, `${i}:`.padEnd(bytes, "x")]),
    ),
  );
}

/** Everything of a source, to compare. */
export function contentOf(source: StoredSource): unknown {
  const text = new TextDecoder();
  const { name, firstSeen, namedBy, set } = source;
  return {
    name,
    firstSeen,
    namedBy,
    collections: [...set.collections].map(([kind, collection]) => [
      kind,
      Array.from(collection, (r) => [r.name, r.version, text.decode(r.bytes)]),
    ]),
    told: [...set.told].map(([kind, told]) => [kind, [...told].sort()]),
  };
}

/** The source after a push that changes and removes. */
export function changed(
  source: StoredSource,
  texts: Record<string, string>,
  removed: string[] = [],
): StoredSource {
  const head = { type: "", nonce: "", version: "", incremental: true };
  const { set } = stored(source.name, texts, source);
  const push = { kind: "accepted", head, resources: [], removed, findings: [] } as const;
  return { ...source, set: applyPush(set, { ...push, kindName: "ServiceEntry" }) };
}
