/**
 * A recorded transcript: what a real client asked, in a form that fits any control plane. Nonces and
 * versions are a server's own, so a transcript says which response they were of instead.
 *
 * @module
 */
import type { JsonLine } from "../lib/process.ts";
import type { WireResponse } from "./control_planes.ts";

/** What a client did on ADS, while the world changed beneath it. */
export interface Transcript {
  /** Program and version. */
  readonly client: string;
  readonly mode: "sotw" | "delta";
  /** Its node, without Envoy's list of extensions. */
  readonly node: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

/** One thing that happened; `answers` is how many responses came before the next. */
export type Step =
  & { readonly answers?: number }
  & (
    | { readonly do: "open" }
    /** The stream is over. */
    | { readonly do: "lost" }
    /** From now on another world is served. */
    | { readonly do: "world"; readonly world: string }
    | Ask
  );

/** A request. */
export interface Ask {
  readonly do: "ask";
  readonly type: string;
  /** Whether it says who it is. */
  readonly node?: true;
  /** Whose nonce it bears: the newest response of its type, an earlier one, or one that was never sent. Absent: none. */
  readonly nonce?: "newest" | "earlier" | "unknown";
  /** Whether it is the first answer to that response. */
  readonly answer?: true;
  /** Whose version it bears: of the response that it answers, or the last that it accepted. Absent: none. */
  readonly version?: "answered" | "accepted";
  /** State of the world: the names asked for. Absent: none. */
  readonly names?: readonly string[];
  /** Delta. */
  readonly subscribe?: readonly string[];
  /** Delta. */
  readonly unsubscribe?: readonly string[];
  /** Delta: names whose versions it says it has. */
  readonly holds?: readonly string[];
  /** It refuses the response. */
  readonly refusal?: { readonly code: number; readonly message: string };
}

interface Request {
  readonly typeUrl: string;
  readonly node?: Record<string, unknown>;
  readonly versionInfo?: string;
  readonly responseNonce?: string;
  readonly resourceNames?: readonly string[];
  readonly resourceNamesSubscribe?: readonly string[];
  readonly resourceNamesUnsubscribe?: readonly string[];
  readonly initialResourceVersions?: Readonly<Record<string, string>>;
  readonly errorDetail?: { readonly code: number; readonly message: string };
}

/** Makes transcripts of what a relay reported: one of each mode in which the client asked. */
export function distil(client: string, lines: readonly JsonLine[]): readonly Transcript[] {
  const modes = [...new Set(lines.flatMap((l) => l.event === "opened" ? String(l.mode) : []))];
  return modes.map((mode) => new Distiller(client, mode as Transcript["mode"]).of(lines));
}

/** Names in the order of the alphabet: maps of other languages have none. */
function sorted(names: readonly string[] | undefined): { names: readonly string[] } | undefined {
  return names === undefined || names.length === 0 ? undefined : { names: [...names].sort() };
}

class Distiller {
  readonly #client: string;
  readonly #mode: Transcript["mode"];
  readonly #steps: Step[] = [];
  #node: Record<string, unknown> = {};
  #stream: unknown;
  #accepted = new Map<string, string>();
  #responses: WireResponse[] = [];
  #answered = new Set<string>();

  constructor(client: string, mode: Transcript["mode"]) {
    this.#client = client;
    this.#mode = mode;
  }

  of(lines: readonly JsonLine[]): Transcript {
    for (const line of lines) this.#take(line);
    return { client: this.#client, mode: this.#mode, node: this.#node, steps: this.#steps };
  }

  #take(line: JsonLine): void {
    switch (line.event) {
      case "opened":
        if (line.mode !== this.#mode) return;
        this.#stream = line.stream;
        this.#responses = [];
        this.#answered.clear();
        this.#steps.push({ do: "open" });
        return;
      case "closed":
        if (line.stream !== this.#stream) return;
        this.#stream = undefined;
        this.#steps.push({ do: "lost" });
        return;
      case "mark":
        this.#steps.push({ do: "world", world: String(line.mark) });
        return;
      case "request":
        if (line.stream === this.#stream) this.#ask(line.request as Request);
        return;
      case "response":
        if (line.stream === this.#stream) this.#response(line as unknown as WireResponse);
    }
  }

  #response(response: WireResponse): void {
    this.#responses.push(response);
    const last = this.#steps.pop()!;
    this.#steps.push({ ...last, answers: (last.answers ?? 0) + 1 });
  }

  #ask(request: Request): void {
    const { typeUrl: type, node, errorDetail } = request;
    if (node !== undefined) this.#node = node;
    const names = (
      field: "names" | "subscribe" | "unsubscribe" | "holds",
      of?: readonly string[],
    ) => ({ ...sorted(of) && { [field]: sorted(of)!.names } });
    this.#steps.push({
      do: "ask",
      type,
      ...(node === undefined ? {} : { node: true }),
      ...this.#answer(request),
      ...names("names", request.resourceNames),
      ...names("subscribe", request.resourceNamesSubscribe),
      ...names("unsubscribe", request.resourceNamesUnsubscribe),
      ...names("holds", Object.keys(request.initialResourceVersions ?? {})),
      ...(errorDetail === undefined
        ? {}
        : { refusal: { code: errorDetail.code, message: errorDetail.message } }),
    });
  }

  #answer({ typeUrl, responseNonce = "", versionInfo = "", errorDetail }: Request): Partial<Ask> {
    const ofType = this.#responses.filter(({ type }) => type === typeUrl);
    const response = ofType.find(({ nonce }) => nonce === responseNonce);
    const first = response !== undefined && !this.#answered.has(responseNonce);
    this.#answered.add(responseNonce);
    let version: Ask["version"];
    if (versionInfo !== "") {
      version = first && versionInfo === response.version && errorDetail === undefined
        ? "answered"
        : "accepted";
      if (version === "accepted" && this.#accepted.get(typeUrl) !== versionInfo) {
        throw new Error(`version ${versionInfo} of ${typeUrl} was never accepted`);
      }
    }
    if (first && errorDetail === undefined) this.#accepted.set(typeUrl, response.version);
    return {
      ...(responseNonce === "" ? {} : {
        nonce: response === undefined
          ? "unknown" as const
          : response === ofType.at(-1)
          ? "newest" as const
          : "earlier" as const,
      }),
      ...(first ? { answer: true as const } : {}),
      ...(version === undefined ? {} : { version }),
    };
  }
}
