/**
 * `peers` as written → rules, and what is odd about them.
 *
 * @module
 */
import { matchesPattern } from "../model/pattern.ts";
import type { PeerMatch, PeerRule, Settings } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { warning } from "./settings_checks.ts";

/** An item of `peers` as written. */
export type PeerInput = NonNullable<SettingsInput["peers"]>[number];

/** A rule. */
export function normalisePeer(input: PeerInput): PeerRule {
  const { match, as, namespaces, labels, wave } = input;
  return {
    match: normaliseMatch(match),
    ...(as === undefined ? {} : { as }),
    namespaces: namespaces ?? [],
    labels: labels ?? {},
    wave: wave ?? DEFAULTS.wave,
  };
}

/** Without what matches everybody. */
function normaliseMatch(input: PeerInput["match"]): PeerMatch {
  const { id, annotations, metadata, identity, listener, sink } = input;
  return {
    ...(id === undefined ? {} : { id }),
    ...(isEmpty(annotations) ? {} : { annotations: annotations! }),
    ...(isEmpty(metadata) ? {} : { metadata: metadata! }),
    ...(identity === undefined ? {} : { identity }),
    ...(listener === undefined ? {} : { listener }),
    ...(sink === undefined ? {} : { sink }),
  };
}

const isEmpty = (texts: Readonly<Record<string, string>> | undefined) =>
  texts === undefined || Object.keys(texts).length === 0;

/** Equal for matches that say the same, in whatever order. */
function keyOf(match: PeerMatch): string {
  const sorted = (texts: Readonly<Record<string, string>> = {}) => Object.entries(texts).sort();
  const { annotations, metadata, ...rest } = match;
  return JSON.stringify([Object.entries(rest).sort(), sorted(annotations), sorted(metadata)]);
}

const EVERYBODY = keyOf({});

/** Rules that can never apply, since an earlier one does. */
export function checkPeers(items: readonly PeerInput[]): Problem[] {
  const matches = items.map((item) => keyOf(normaliseMatch(item.match)));
  return matches.flatMap((match, index) => {
    const first = matches.findIndex((other) => other === match || other === EVERYBODY);
    if (first === index) return [];
    const message = `item ${index + 1} of \`peers\` never counts: item ${first + 1} matches ` +
      `${matches[first] === EVERYBODY ? "every peer" : "the same peers"}, and the first counts`;
    return [warning("config/never", ["peers", index], message, "move it up, or take it out")];
  });
}

/** Rules that name a listener or a sink that the settings do not have. */
export function checkPeerPlaces({ peers, listen, sinks }: Settings): Problem[] {
  return peers.flatMap(({ match: { listener, sink } }, index) => {
    const path = ["peers", index, "match"];
    const problems: Problem[] = [];
    if (listener !== undefined && !listen.some((l) => matchesPattern(listener, l.address))) {
      const known = listen.map(({ address }) => address).join(", ");
      const message = `${listener} is no address of \`listen\`, so nobody matches`;
      const hint = known === "" ? "`listen` is empty" : `there is ${known}`;
      problems.push(warning("config/never", [...path, "listener"], message, hint));
    }
    const isName = sink !== undefined && !sink.includes("*");
    if (isName && sinks.every(({ name }) => name !== sink)) {
      const names = sinks.map(({ name }) => name);
      const meant = nearest(sink, names);
      const known = names.length === 0 ? "there are none" : `there is ${names.join(", ")}`;
      const hint = meant === undefined ? known : `did you mean ${meant}?`;
      problems.push(
        warning(
          "config/never",
          [...path, "sink"],
          `no sink is named ${sink}, so nobody matches`,
          hint,
        ),
      );
    }
    return problems;
  });
}
