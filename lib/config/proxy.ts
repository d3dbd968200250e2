/**
 * HTTP CONNECT proxies as they are configured.
 *
 * @module
 */
import { parseHostPort } from "./address.ts";
import { type Environment, expand, processEnvironment, withoutSecret } from "./expand.ts";

/** A proxy taken apart. */
export interface Proxy {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Absent: the proxy is asked without credentials. */
  readonly credentials?: { readonly user: string; readonly password: string };
}

/** What a proxy's URL came to, or what is wrong with it. No message repeats any of it: it may hold a password. */
export type ParsedProxy =
  | { readonly ok: true; readonly proxy: Proxy }
  | {
    readonly ok: false;
    readonly message: string;
    readonly hint: string;
    /** The variable that is not set, where that is what is wrong. */
    readonly unset?: string;
  };

/** Fills in the variables of a configured proxy and takes it apart. */
export function expandProxy(
  text: string,
  environment: Environment = processEnvironment,
): ParsedProxy {
  const expansion = expand(text, environment);
  return expansion.ok ? parseProxy(expansion.text) : withoutSecret(expansion, "`proxy`");
}

const FORM = "write http://host:port or http://user:password@host:port";

/** Takes `http://[user:password@]host:port` apart, variables filled in already; user and password are percent-decoded. */
export function parseProxy(url: string): ParsedProxy {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return wrong("`proxy` does not begin with http://");
  if (scheme !== "http") {
    return wrong("`proxy` is no http:// proxy; CONNECT over plain HTTP is the only kind there is");
  }
  const rest = url.slice("http://".length).replace(/\/$/, "");
  const at = rest.lastIndexOf("@");
  const place = parseHostPort(rest.slice(at + 1));
  if (place === undefined || place.port === 0) {
    return wrong("`proxy` names no host and port that can be dialled");
  }
  if (at < 0) return { ok: true, proxy: place };
  const colon = rest.slice(0, at).indexOf(":");
  if (colon < 0) return wrong("`proxy` has a user without a password");
  const user = decoded(rest.slice(0, colon));
  const password = decoded(rest.slice(colon + 1, at));
  if (user === undefined || password === undefined) {
    return wrong(
      "`proxy` has a % in its user or password that begins no escape",
      "write %25 for %",
    );
  }
  // The colon ends the user in what a proxy is sent, and line ends would end the header.
  if (user.includes(":") || hasControl(user) || hasControl(password)) {
    return wrong("`proxy` has a user or password with a character that a proxy cannot be sent");
  }
  return { ok: true, proxy: { ...place, credentials: { user, password } } };
}

function wrong(message: string, hint = FORM): ParsedProxy {
  return { ok: false, message, hint };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
