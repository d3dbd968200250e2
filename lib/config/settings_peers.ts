/**
 * `peers` as written → rules, and what is odd about them.
 *
 * @module
 */
import { matchesPattern } from "../model/pattern.ts";
import type { PeerMatch, PeerRule, Settings } from "../model/settings.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { checkWave, warning } from "./settings_checks.ts";

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
    ...(wave === undefined ? {} : { wave }),
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

/** What is odd about the rules: those that can never apply, and what has no effect. */
export function checkPeers(items: readonly PeerInput[]): Problem[] {
  const waves = items.flatMap(({ wave }, index) => checkWave(wave, ["peers", index, "wave"]));
  return [...checkOrder(items), ...waves];
}

/** Of rules that match the same only the first applies. */
function checkOrder(items: readonly PeerInput[]): Problem[] {
  const firsts = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = keyOf(normaliseMatch(item.match));
    const everybody = firsts.get(EVERYBODY);
    const first = everybody ?? firsts.get(key);
    if (first === undefined) {
      firsts.set(key, index);
      return [];
    }
    const whom = everybody === undefined ? "the same peers" : "every peer";
    const message = `item ${index + 1} of \`peers\` never counts: item ${first + 1} matches ` +
      `${whom}, and the first counts`;
    return [warning("config/never", ["peers", index], message, "move it up, or take it out")];
  });
}

/** Rules that name a listener or a sink that the settings do not have. */
export function checkPeerPlaces({ peers, listen, sinks }: Settings): Problem[] {
  const addresses = listen.map(({ address }) => address);
  const names = sinks.map(({ name }) => name);
  const known = new Set(names);
  return peers.flatMap(({ match: { listener, sink } }, index) => {
    const path = ["peers", index, "match"];
    const problems: Problem[] = [];
    if (listener !== undefined && !addresses.some((one) => matchesPattern(listener, one))) {
      const message = `${listener} is no address of \`listen\`, so nobody matches`;
      const at = [...path, "listener"];
      problems.push(warning("config/never", at, message, suggest(listener, addresses)));
    }
    if (sink !== undefined && !sink.includes("*") && !known.has(sink)) {
      const message = `no sink is named ${sink}, so nobody matches`;
      problems.push(warning("config/never", [...path, "sink"], message, suggest(sink, names)));
    }
    return problems;
  });
}

/** Names that are told, or compared, at most. */
const MOST_TOLD = 8;
const MOST_COMPARED = 100;

function suggest(word: string, names: readonly string[]): string {
  if (names.length === 0) return "there are none";
  const meant = nearest(word, names.slice(0, MOST_COMPARED));
  if (meant !== undefined) return `did you mean ${meant}?`;
  const told = names.slice(0, MOST_TOLD).join(", ");
  return `there is ${told}${names.length > MOST_TOLD ? ", …" : ""}`;
}
