import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createHash } from "node:crypto";
import type { Settings } from "../../lib/model/settings.ts";
import {
  decodeHead,
  decodeSnapshot,
  encodeSnapshot,
  FORMAT,
  SnapshotFileError,
} from "../../lib/snapshot/snapshot_file.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import {
  emptySnapshot,
  makeSnapshot,
  ORIGINS_ANY_TYPE,
  type Snapshot,
} from "../../lib/snapshot/snapshot.ts";
import { contentOf, largeSnapshot, resource, SETTINGS, snapshotOf } from "./snapshots.ts";

function fileOf(snapshot: Snapshot, sequence = 7, savedAt = 1234): Uint8Array {
  return new Uint8Array(
    [...encodeSnapshot(snapshot, { sequence, savedAt })].flatMap((piece) => [...piece]),
  );
}

Deno.test("snapshot file: what is read is what was written", () => {
  for (const snapshot of [emptySnapshot(SETTINGS), largeSnapshot(1000)]) {
    const stored = decodeSnapshot(fileOf(snapshot));
    assertEquals(stored.snapshot.id, snapshot.id);
    assertEquals(stored.snapshot.settings, snapshot.settings);
    assertEquals(contentOf(stored.snapshot), contentOf(snapshot));
    assertEquals([stored.sequence, stored.savedAt], [7, 1234]);
  }
});

Deno.test("snapshot file: which source gave what comes back, and is verified like the rest", () => {
  const snapshot = snapshotOf({ "shop/orders": "x", "edge/a": "y" });
  const entry = { name: "edge/a", version: "spiffe://example.org/edge", bytes: new Uint8Array(0) };
  const origins = new Map([["ServiceEntry", Collection.of(ORIGINS_ANY_TYPE, [entry])]]);
  const file = fileOf(makeSnapshot({ ...snapshot, origins }));
  const { snapshot: read } = decodeSnapshot(file);
  assertEquals(read.id, snapshot.id, "who gave it is no part of what it is");
  assertEquals([...read.origins!.get("ServiceEntry")!], [entry]);
  assertEquals(decodeSnapshot(fileOf(snapshot)).snapshot.origins, undefined);
});

Deno.test("snapshot file: any names, texts and sizes come back, every kind and the services apart", () => {
  const names = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
  const texts = fc.dictionary(names, fc.string({ unit: "binary", maxLength: 400 }), {
    maxKeys: 30,
  });
  fc.assert(
    fc.property(texts, texts, texts, (entries, rules, services) => {
      const empty = emptySnapshot(SETTINGS);
      const fill = (kind: string, of: Record<string, string>) =>
        empty.collections.get(kind)!.patch(
          Object.entries(of).map(([name, text]) => resource(name, text)),
          [],
        );
      const collections = new Map(empty.collections);
      collections.set("ServiceEntry", fill("ServiceEntry", entries));
      collections.set("VirtualService", fill("VirtualService", rules));
      const snapshot = makeSnapshot({
        collections,
        services: empty.services.patch(
          Object.entries(services).map(([n, t]) => resource(n, t)),
          [],
        ),
        settings: SETTINGS,
      });
      assertEquals(contentOf(decodeSnapshot(fileOf(snapshot)).snapshot), contentOf(snapshot));
    }),
    { numRuns: 100 },
  );
});

Deno.test("snapshot file: every changed byte and every cut is noticed", () => {
  const bytes = fileOf(snapshotOf({ "a/b": "one", "a/c": "two" }));
  for (let at = 0; at < bytes.length; at++) {
    const flipped = bytes.slice();
    flipped[at]! ^= 1 << (at % 8);
    assertThrows(() => decodeSnapshot(flipped), SnapshotFileError);
    assertThrows(() => decodeSnapshot(bytes.subarray(0, at)), SnapshotFileError);
  }
  assertThrows(() => decodeSnapshot(new Uint8Array([...bytes, 0])), SnapshotFileError);
});

Deno.test("snapshot file: a file of a newer release is told from a damaged one", () => {
  const newer = new TextEncoder().encode(`pinnace-snapshot ${FORMAT + 1} anything\n\x00\x01`);
  for (const read of [decodeHead, decodeSnapshot]) {
    const error = assertThrows(() => read(newer), SnapshotFileError, "newer release");
    assertEquals(error.reason, "newer");
  }
  for (const text of ["", "\n", "something else\n", "pinnace-snapshot 1 {\n", "x".repeat(9999)]) {
    const error = assertThrows(() => decodeHead(new TextEncoder().encode(text)), SnapshotFileError);
    assertEquals(error.reason, "damaged");
  }
});

Deno.test("snapshot file: content that is not that of the id is damaged, though its checksum fits", () => {
  const snapshot = snapshotOf({ "a/b": "one" });
  const lying = { ...snapshot, id: "0123456789abcdef" };
  assertThrows(() => decodeSnapshot(fileOf(lying)), SnapshotFileError, "its id");
});

Deno.test("snapshot file: the file is not kept in memory by the resources read from it", () => {
  const file = fileOf(largeSnapshot(600));
  const { snapshot } = decodeSnapshot(file);
  const buffers = new Set<ArrayBufferLike>();
  for (const { bytes } of snapshot.collections.get("ServiceEntry")!) buffers.add(bytes.buffer);
  assertEquals(buffers.size, 3); // sections of 256
  assert(!buffers.has(file.buffer));
  for (const buffer of buffers) assert(buffer.byteLength < file.length / 2);
});

Deno.test("snapshot file: written in pieces of bounded size", () => {
  const pieces = [...encodeSnapshot(largeSnapshot(2000, 4096), { sequence: 1, savedAt: 0 })];
  for (const piece of pieces) assert(piece.length < 300 * 1024, `${piece.length}`);
});

/** Settings as the releases stored them that wrote format 2. */
const SETTINGS_2 = (() => {
  const { envoy: _envoy, ...rest } = SETTINGS;
  return { ...rest, instance: "edge-2" } as unknown as Settings;
})();

/** Settings as the release stored them that wrote format 1. */
const SETTINGS_1 = (() => {
  const { envoy: _envoy, peers: _peers, pull: _pull, ...rest } = SETTINGS;
  return {
    ...rest,
    listen: [{ address: "127.0.0.1:15010" }, { address: "0.0.0.0:15011" }],
    sinks: [{ name: "s", address: "sink.example:9901", headers: { a: "b" }, heartbeat: 30_000 }],
  } as unknown as Settings;
})();

/** The file of a snapshot as the release of this format would have written it. */
function fileOfFormat(format: number, snapshot: Snapshot): Uint8Array {
  const content = fileOf(snapshot).slice(0, -32);
  const first = `pinnace-snapshot ${FORMAT} `;
  assertEquals(new TextDecoder().decode(content.subarray(0, first.length)), first);
  content.set(new TextEncoder().encode(`pinnace-snapshot ${format} `));
  return new Uint8Array([...content, ...createHash("sha256").update(content).digest()]);
}

Deno.test("snapshot file: one of the release before is verified as it was, then served with today's settings", () => {
  const old = snapshotOf({ "a/b": "one" }, SETTINGS_2);
  const { snapshot } = decodeSnapshot(fileOfFormat(2, old));
  assertEquals(contentOf(snapshot), contentOf(old));
  assertEquals(snapshot.settings, { ...SETTINGS, instance: "edge-2" });
  assertEquals(snapshot.id, makeSnapshot(snapshot).id);
});

Deno.test("snapshot file: one of the first release is verified as it was, then served with today's settings", () => {
  const old = snapshotOf({ "a/b": "one" }, SETTINGS_1);
  const file = fileOfFormat(1, old);
  assertEquals(decodeHead(file).id, old.id);
  const { snapshot, sequence, savedAt } = decodeSnapshot(file);
  assertEquals([sequence, savedAt], [7, 1234]);
  assertEquals(contentOf(snapshot), contentOf(old));
  assertEquals(snapshot.settings, {
    ...SETTINGS,
    listen: [
      { address: "127.0.0.1:15010", allow: [], insecure: true },
      { address: "0.0.0.0:15011", allow: [], insecure: true },
    ],
    sinks: [{
      name: "s",
      address: "sink.example:9901",
      headers: { a: "b" },
      heartbeat: 30_000,
      collections: [],
      wave: 1,
    }],
  });
  assertEquals(snapshot.id, makeSnapshot(snapshot).id);
  const again = decodeSnapshot(fileOf(snapshot)).snapshot;
  assertEquals([again.id, again.settings], [snapshot.id, snapshot.settings]);
});

Deno.test("snapshot file: the id of a file of an earlier release must be that of its own settings", () => {
  const old = snapshotOf({ "a/b": "one" }, SETTINGS_1);
  const today = decodeSnapshot(fileOfFormat(1, old)).snapshot;
  const lying = fileOfFormat(1, { ...old, id: today.id });
  assertThrows(() => decodeSnapshot(lying), SnapshotFileError, "its id");
});
