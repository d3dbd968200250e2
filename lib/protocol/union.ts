/**
 * Two collections taken together, and how their names differ. Each is made once for a pair, so that
 * all streams that go from the one to the other share it.
 *
 * @module
 */
import type { Collection } from "../snapshot/collection.ts";

/** How the names of one collection differ from those of an older one. */
export interface NameChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Everything of both; where both have a name, as the newer has it. The newer itself where it lacks nothing. */
export const unionOf: (older: Collection, newer: Collection) => Collection = perPair(
  (older, newer) => {
    const { changed, removed } = newer.diff(older);
    return removed.length === 0 ? newer : older.patch(changed, []);
  },
);

/** Which names came and which went. */
export const nameChange: (older: Collection, newer: Collection) => NameChange = perPair(
  (older, newer) => {
    const { changed, removed } = newer.diff(older);
    const added = changed.filter(({ name }) => older.get(name) === undefined);
    return { added: added.map(({ name }) => name), removed };
  },
);

/** Makes something of two collections once, and keeps it as long as there are both. */
function perPair<Made>(
  make: (older: Collection, newer: Collection) => Made,
): (older: Collection, newer: Collection) => Made {
  const made = new WeakMap<Collection, WeakMap<Collection, Made>>();
  return (older, newer) => {
    let byOlder = made.get(newer);
    if (byOlder === undefined) made.set(newer, byOlder = new WeakMap());
    let one = byOlder.get(older);
    if (one === undefined) byOlder.set(older, one = make(older, newer));
    return one;
  };
}
