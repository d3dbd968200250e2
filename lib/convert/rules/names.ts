/**
 * Names and labels: Istio's idea of a DNS label (which allows capitals), its domain names, and
 * Kubernetes' rules for metadata.
 *
 * @module
 */

const LABEL = "[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?";
const QUALIFIED_NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";

const ISTIO_LABEL = new RegExp(`^${LABEL}$`);
const ISTIO_WILDCARD_LABEL = new RegExp(`^(?:\\*|(?:\\*|\\*-)?${LABEL})$`);
const ISTIO_TAG_PREFIX = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const TAG_NAME = new RegExp(`^${QUALIFIED_NAME}$`);
const TAG_VALUE = new RegExp(`^(?:${QUALIFIED_NAME})?$`);
const KUBERNETES_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const DIGITS = /^[0-9]+$/;
const INT64_MAX = 2n ** 63n - 1n;

const LABEL_LENGTH = 63;
const SUBDOMAIN_LENGTH = 253;
const DOMAIN_LENGTH = 255;

/** Whether this is a DNS label as Istio takes it: RFC 1123, capitals allowed, 63 characters at most. */
export function isIstioLabel(text: string): boolean {
  return text.length <= LABEL_LENGTH && ISTIO_LABEL.test(text);
}

/** Whether this is a domain name as Istio takes it; the last label may be empty (a trailing dot). */
export function isDomain(text: string): boolean {
  return hasDomainLength(text) && hasDomainLabels(text);
}

/** Whether this is a host as Istio takes it: a domain name whose first label may be or begin with `*`. */
export function isWildcardDomain(text: string): boolean {
  if (!hasDomainLength(text)) return false;
  const dot = text.indexOf(".");
  const first = dot < 0 ? text : text.slice(0, dot);
  if (first.length > LABEL_LENGTH || !ISTIO_WILDCARD_LABEL.test(first)) return false;
  return dot < 0 || hasDomainLabels(text.slice(dot + 1));
}

/** Whether a host holds a `*` elsewhere than as its whole first label. */
export function isPartialWildcard(host: string): boolean {
  return host.includes("*") && host.length !== 1 && !host.startsWith("*.");
}

/** Whether this is the key of an endpoint's label as Istio takes it. */
export function isIstioTagKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = slash < 0 ? key : key.slice(slash + 1);
  if (name.length > LABEL_LENGTH || !TAG_NAME.test(name)) return false;
  return slash < 0 || (slash <= SUBDOMAIN_LENGTH && ISTIO_TAG_PREFIX.test(key.slice(0, slash)));
}

/** Whether this is the value of an endpoint's label as Istio takes it: of any length. */
export function isIstioTagValue(value: string): boolean {
  return TAG_VALUE.test(value);
}

/** Whether this is a DNS-1123 label as Kubernetes wants it for a namespace. */
export function isKubernetesLabel(text: string): boolean {
  return text.length <= LABEL_LENGTH && KUBERNETES_LABEL.test(text);
}

/** Whether this is a DNS-1123 subdomain as Kubernetes wants it for the name of an object. */
export function isKubernetesSubdomain(text: string): boolean {
  return text.length <= SUBDOMAIN_LENGTH &&
    text.split(".").every((label) => KUBERNETES_LABEL.test(label));
}

/** Whether this is the key of a label or annotation as Kubernetes wants it: `[subdomain/]name`. */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf("/");
  const name = slash < 0 ? key : key.slice(slash + 1);
  if (name.length > LABEL_LENGTH || !TAG_NAME.test(name)) return false;
  return slash < 0 || isKubernetesSubdomain(key.slice(0, slash));
}

/** Whether this is the value of a label as Kubernetes wants it: 63 characters at most. */
export function isLabelValue(value: string): boolean {
  return value.length <= LABEL_LENGTH && TAG_VALUE.test(value);
}

/** The nearest DNS-1123 subdomain to some text, for a hint; undefined where nothing is left of it. */
export function suggestName(text: string): string | undefined {
  const labels = start(text).toLowerCase().split(".")
    .map((label) => trimHyphens(label.replace(/[^a-z0-9-]+/g, "-")))
    .filter((label) => label !== "");
  const name = trimEnds(labels.join(".").slice(0, SUBDOMAIN_LENGTH));
  return isKubernetesSubdomain(name) ? name : undefined;
}

/** The nearest DNS-1123 label to some text, for a hint; undefined where nothing is left of it. */
export function suggestLabel(text: string): string | undefined {
  const label = trimHyphens(
    start(text).toLowerCase().replace(/[^a-z0-9-]+/g, "-").slice(0, LABEL_LENGTH),
  );
  return isKubernetesLabel(label) ? label : undefined;
}

/** The nearest value of a label to some text, for a hint; undefined where nothing is left of it. */
export function suggestLabelValue(text: string): string | undefined {
  const value = start(text).replace(/[^-A-Za-z0-9_.]+/g, "-").slice(0, LABEL_LENGTH)
    .replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]+$/, "");
  return value !== "" && isLabelValue(value) ? value : undefined;
}

function hasDomainLength(text: string): boolean {
  return text.length > 0 && text.length <= DOMAIN_LENGTH;
}

function hasDomainLabels(text: string): boolean {
  const labels = text.split(".");
  const last = labels.length - 1;
  if (isInt64(labels[last]!)) return false;
  return labels.every((label, index) => isIstioLabel(label) || (index === last && label === ""));
}

/** Whether Go reads these digits as an int: beyond 64 bits it does not, and an all-numeric domain passes. */
function isInt64(text: string): boolean {
  return DIGITS.test(text) && (text.length < 19 || BigInt(text) <= INT64_MAX);
}

/** As much of a text as a suggestion can be made of: whoever wrote a megabyte meant no name. */
function start(text: string): string {
  return text.slice(0, 2 * SUBDOMAIN_LENGTH);
}

function trimHyphens(text: string): string {
  return text.replace(/^-+/, "").replace(/-+$/, "");
}

function trimEnds(text: string): string {
  return text.replace(/^[-.]+/, "").replace(/[-.]+$/, "");
}

/** Whether two texts, the second in plain small letters, are equal but for capitals, as Go folds them. */
export function isEqualFold(text: string, small: string): boolean {
  return text.replaceAll("\u017f", "s").toLowerCase() === small;
}

/** Names for a message to a person: some of them, each short. */
export function enumerate(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => name.length > 80 ? `${name.slice(0, 79)}…` : name);
  const more = names.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** A text in quotes for a message to a person: escaped, and short. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
