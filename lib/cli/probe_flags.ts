/**
 * The options of `pinnace probe` as a person writes them. What they come to is read elsewhere, so that
 * other commands do not load what only the probe needs.
 *
 * @module
 */
import { type Command, Option } from "commander";
import type { ViewKind } from "../view/client_views.ts";

/** What the probe speaks. */
export type ProbeProtocol = "mcp" | "ads" | "ads-delta";

/** How it prints what it gets. */
export type ProbeFormat = "text" | "names" | "yaml" | "json";

/** Options as they are written. */
export interface ProbeFlags {
  /** Absent: `mcp`, or `ads` for what only that has. */
  readonly protocol?: ProbeProtocol;
  readonly as?: ViewKind;
  readonly resource?: readonly string[];
  readonly collection?: readonly string[];
  /** The same as `collection`. */
  readonly type?: readonly string[];
  readonly incremental?: boolean;
  /** True: without a reason of its own. */
  readonly nack?: string | true;
  readonly follow?: boolean;
  readonly timeout: string;
  readonly node?: string;
  readonly userAgent?: string;
  readonly metadata?: readonly string[];
  readonly header?: readonly string[];
  readonly tokenFile?: string;
  readonly tls?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly proxy?: string;
  readonly format: ProbeFormat;
  readonly maxMessage: string;
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** Gives a command the argument and options of the probe. */
export function addProbeOptions(command: Command): Command {
  return command
    .argument("<address>", "host:port of the server, with or without xds://")
    .addOption(
      new Option("--protocol <name>", "what to speak (default: mcp; ads with --as or an xDS type)")
        .choices(["mcp", "ads", "ads-delta"]),
    )
    .addOption(
      new Option("--as <kind>", "ask for what such a client asks for, as it does")
        .choices(["envoy", "grpc", "dubbo"]),
    )
    .option("--collection <name>", "only this kind, collection or type URL; repeatable", collect)
    .option("--type <name>", "the same; also CDS, EDS, LDS, RDS; repeatable", collect)
    .option(
      "--resource <name>",
      "only this resource of the type, or what a gRPC program would call; repeatable",
      collect,
    )
    .option("--incremental", "ask for differences (mcp)")
    .option("--nack [reason]", "refuse the first push of each type")
    .option("--follow", "stay, and print what changes")
    .option("--timeout <duration>", "until each type has to be answered", "10s")
    .option("--node <id>", "who we say we are (default: pinnace-probe, or as such a client would)")
    .option("--user-agent <name>", "user agent that we name (ads)")
    .option("--metadata <key=value>", "metadata of our node (ads); repeatable", collect)
    .option("--header <key=value>", "gRPC metadata to send along; repeatable", collect)
    .option("--token-file <file>", "file with a token to send as authorization: Bearer")
    .option("--tls", "use TLS, by the authorities that this system knows unless --ca is given")
    .option("--ca <file>", "authorities that the server's certificate must be signed by")
    .option("--cert <file>", "our certificate")
    .option("--key <file>", "its key")
    .option("--server-name <name>", "whom the server's certificate must name (default: the host)")
    .option("--proxy <url>", "HTTP CONNECT proxy, http://[user:password@]host:port")
    .addOption(
      new Option("--format <format>", "how resources are printed")
        .choices(["text", "names", "yaml", "json"]).default("text"),
    )
    .option("--max-message <size>", "largest message taken", "64MiB")
    .description("ask a server what it serves, as a sink of MCP or a client of ADS");
}
