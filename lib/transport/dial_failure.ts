/**
 * Why a dial-out failed, in words.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import type { Violation } from "./frame_rules.ts";
import type { DrainNotice } from "./frame_scanner.ts";
import { presentable } from "./grpc_bytes.ts";

/** What a call's status says; undefined: it ended in order. */
export function failureOf({ code, details }: grpc.StatusObject): string | undefined {
  if (code === grpc.status.OK) return undefined;
  // grpc-js wraps what the system said in words of its own
  const system = /Last error: (?:Error: )?(.*?)(?: \([\d-]+T[\d:.]+Z\))?\.? Resolution note:/;
  const said = system.exec(details)?.[1];
  if (said !== undefined) return said;
  const unresolved = /^Name resolution failed for target (?:dns:)?(.+?)(?::\d+)?$/.exec(details)
    ?.[1];
  if (unresolved !== undefined) return `the name ${unresolved} does not resolve`;
  return [grpc.status[code], details].filter(Boolean).join(": ");
}

/** What a GOAWAY says. */
export function drainReason({ code, debug }: DrainNotice): string {
  const said = debug === "" ? "" : `: ${presentable(debug)}`;
  return `the peer is going away (GOAWAY, code ${code}${said})`;
}

/** Which rule the server broke. */
export function violationReason({ reason, detail }: Violation): string {
  return reason === "preface"
    ? "the peer does not speak HTTP/2"
    : `the peer broke the rules of HTTP/2: ${detail}`;
}
