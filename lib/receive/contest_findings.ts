/**
 * What is said about names and hosts that several sources claim.
 *
 * @module
 */
import { enumerate, quote } from "../convert/rules/names.ts";
import type { RuleInfo } from "../convert/rules/rule.ts";
import type { Finding } from "../model/finding.ts";
import type { NameContest } from "./kind_union.ts";
import { type Offer, OWN_PART, type Part } from "./offer.ts";
import type { Difference, Refusal } from "./refusal.ts";

/** Several sources have a resource of one kind, namespace and name: one is served. */
export const CONTESTED_NAME_RULE = "receive/contested-name";

/** Sources have ServiceEntries of different names with one host. */
export const CONTESTED_HOST_RULE = "receive/contested-host";

/** Rules about what several sources claim; sources see nothing of them. */
export const CONTEST_RULES: readonly RuleInfo[] = [
  { id: CONTESTED_NAME_RULE, severity: "warning" },
  { id: CONTESTED_HOST_RULE, severity: "error" },
];

/** Says who has a name and who is left out. */
export function nameFinding(kind: string, { name, holder, others }: NameContest): Finding {
  const isEqual = others.every(({ resource }) => resource.version === holder.resource.version);
  const left = listSources(others);
  const message = isEqual
    ? `${kind} ${name} comes with equal content from ${
      sourceText(holder.part)
    } and ${left}; it is served once`
    : holder.part.name === OWN_PART
    ? `${kind} ${name} of our own configuration replaces what comes from ${left} under that name`
    : `${kind} ${name} is served as ${
      sourceText(holder.part)
    } has it, which had it first; what comes from ${left} under that name is left out`;
  return {
    severity: "warning",
    rule: CONTESTED_NAME_RULE,
    message,
    hint: NAME_HINT,
    subject: name,
  };
}

const NAME_HINT =
  "give them names of their own, or let one source alone fill the namespace (receive.from: namespaces)";

/** Says who has a host, who is not served, and what would let both be. */
export function hostFinding({ offer, host, leader, difference }: Refusal): Finding {
  const holder = `${leader.resource.name} of ${sourceText(leader.part)}`;
  return {
    severity: "error",
    rule: CONTESTED_HOST_RULE,
    message:
      `${offer.resource.name} of ${sourceText(offer.part)} is not served: its host ${
        quote(host)
      } ` +
      `is that of ${holder}${reasonText(offer, difference)}`,
    hint: HOST_HINTS[difference?.kind ?? "refused"],
    subject: offer.resource.name,
  };
}

function reasonText({ part }: Offer, difference: Difference | undefined): string {
  switch (difference?.kind) {
    case undefined:
      return " already";
    case "differs":
      return ` already, and the two cannot be merged: ${difference.text}`;
    case "full":
      return ` already, and ${difference.text}`;
    case "limited":
      return `, and ${sourceText(part)} ${difference.text}`;
  }
}

const HOST_HINTS: Readonly<Record<Difference["kind"] | "refused", string>> = {
  refused:
    "give one of them another host, or serve the endpoints of both in one (receive.merge: endpoints)",
  differs: "make them agree in that, or give one of them another host",
  full: "put the endpoints into fewer entries, or give some of them another host",
  limited: "give it another host, or let the source fill that namespace (receive.from: namespaces)",
};

/** Stands for the findings of a rule beyond those shown. */
export function moreFindings(rule: string, count: number): Finding {
  return rule === CONTESTED_HOST_RULE
    ? { severity: "error", rule, message: `${count} more entries are not served for their hosts` }
    : { severity: "warning", rule, message: `${count} more names come from several sources` };
}

function sourceText(part: Part): string {
  return part.name === OWN_PART ? "our own configuration" : `source ${quote(part.name)}`;
}

/** Our own configuration is never left out, so never among these. */
function listSources(offers: readonly Offer[]): string {
  const names = offers.map(({ part }) => JSON.stringify(part.name));
  return `${names.length === 1 ? "source" : "sources"} ${enumerate(names)}`;
}
