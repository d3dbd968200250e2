/**
 * Which inbound frames may reach the HTTP/2 library, which are left out, and which end the
 * connection. Only what is wrong in itself or in its number is judged here; everything else is the
 * library's business.
 *
 * @module
 */
import { Allowance, type Rate } from "./allowance.ts";
import { DEFAULT_MAX_FRAME_SIZE, FrameFlag, type FrameHeader, FrameType } from "./frames.ts";

/** Which end of the connection we are. */
export type Side = "server" | "client";

/** Bounds on what a peer may send. */
export interface FrameLimits {
  /** RST_STREAM (rapid reset, CVE-2023-44487). */
  readonly resets: Rate;
  /** SETTINGS without ACK. */
  readonly settings: Rate;
  /** PING without ACK, counted anew whenever we send DATA or HEADERS (gRPC's own rule). */
  readonly pings: Rate;
  /** Frames that carry nothing: PRIORITY, empty DATA, unknown types, ACKs that nobody asked for. */
  readonly idle: Rate;
  /** CONTINUATION frames of one header block. */
  readonly continuations: number;
  /** Compressed header block, over all its frames. Bytes. */
  readonly headerBlock: number;
}

/** Generous to every ordinary client. */
export const FRAME_LIMITS: FrameLimits = {
  resets: { burst: 400, perSecond: 100 },
  settings: { burst: 60, perSecond: 10 },
  pings: { burst: 200, perSecond: 20 },
  idle: { burst: 1000, perSecond: 200 },
  continuations: 16,
  headerBlock: 65_536,
};

/** Why a connection was ended by the gate; a label for metrics. */
export type ViolationReason =
  | "preface"
  | "frame_size"
  | "protocol"
  | "push_promise"
  | "reset_flood"
  | "settings_flood"
  | "ping_flood"
  | "idle_flood"
  | "header_flood"
  | "unread";

/** What a peer did that ends its connection. */
export interface Violation {
  readonly reason: ViolationReason;
  /** For logs. */
  readonly detail: string;
}

/** `drop`: the frame is left out, `goaway`: left out, and its payload read. */
export type Verdict = "pass" | "drop" | "goaway" | Violation;

const { data, headers, priority, rstStream, settings, pushPromise, ping, goaway } = FrameType;
const { windowUpdate, continuation } = FrameType;

const CONNECTION_FRAMES: ReadonlySet<number> = new Set([settings, ping, goaway]);
const STREAM_FRAMES: ReadonlySet<number> = new Set([
  data,
  headers,
  priority,
  rstStream,
  continuation,
]);
const FIXED_LENGTHS: ReadonlyMap<number, number> = new Map([
  [priority, 5],
  [rstStream, 4],
  [ping, 8],
  [windowUpdate, 4],
]);

/** The longest GOAWAY that a server may begin with: what else speaks seldom looks like one. Bytes. */
const MOST_FAREWELL = 4096;

/** Judges inbound frames one after the other. */
export class FrameRules {
  readonly #side: Side;
  readonly #limits: FrameLimits;
  readonly #resets: Allowance;
  readonly #settings: Allowance;
  readonly #pings: Allowance;
  readonly #idle: Allowance;
  #begun: boolean;
  #block: { stream: number; size: number; continuations: number } | undefined;
  #maxFrame = DEFAULT_MAX_FRAME_SIZE;
  readonly #unanswered = { pings: 0, settings: 0 };

  constructor(side: Side, limits: FrameLimits) {
    this.#side = side;
    this.#limits = limits;
    this.#begun = side === "server";
    this.#resets = new Allowance(limits.resets);
    this.#settings = new Allowance(limits.settings);
    this.#pings = new Allowance(limits.pings);
    this.#idle = new Allowance(limits.idle);
  }

  /** Takes note of a frame that we send. */
  sent(header: FrameHeader): void {
    const { type, flags } = header;
    if (type === data || type === headers) this.#pings.refill();
    if ((flags & FrameFlag.ack) !== 0) return;
    if (type === ping) this.#unanswered.pings++;
    if (type === settings) this.#unanswered.settings++;
  }

  /** Takes note of the frame size that we allow the peer. */
  allowFrameSize(bytes: number): void {
    this.#maxFrame = Math.max(this.#maxFrame, bytes);
  }

  /** What is to become of a frame with this header. */
  judge(header: FrameHeader, now: number): Verdict {
    return this.#beginning(header) ?? this.#shape(header) ?? this.#sequence(header) ??
      this.#meaning(header, now);
  }

  /**
   * A server's first frame is SETTINGS (RFC 9113, section 3.4); the library sees to the client's. One
   * that turns us away may say so first, and only that.
   */
  #beginning({ length, type, flags }: FrameHeader): Violation | undefined {
    if (this.#begun) return undefined;
    this.#begun = true;
    if (type === goaway && flags === 0 && length <= MOST_FAREWELL) return undefined;
    if (type === settings && (flags & FrameFlag.ack) === 0) return undefined;
    return violation("preface", "it does not speak HTTP/2");
  }

  #shape({ length, type, flags, stream }: FrameHeader): Violation | undefined {
    if (length > this.#maxFrame) {
      return violation("frame_size", `a frame of ${length} bytes, allowed are ${this.#maxFrame}`);
    }
    const fixed = FIXED_LENGTHS.get(type);
    const ack = type === settings && (flags & FrameFlag.ack) !== 0;
    if (
      (fixed !== undefined && length !== fixed) || (type === settings && length % 6 !== 0) ||
      (ack && length !== 0) || (type === goaway && this.#side === "client" && length < 8)
    ) {
      return violation("frame_size", `a frame of type ${type} with ${length} bytes`);
    }
    const misplaced = stream === 0 ? STREAM_FRAMES : CONNECTION_FRAMES;
    if (misplaced.has(type)) {
      return violation("protocol", `a frame of type ${type} on stream ${stream}`);
    }
    return undefined;
  }

  /** A header block must not be interrupted (RFC 9113, section 6.10), and has bounds. */
  #sequence({ length, type, flags, stream }: FrameHeader): Violation | undefined {
    const block = this.#block;
    if ((block !== undefined) !== (type === continuation)) {
      return violation("protocol", `a frame of type ${type} out of place in a header block`);
    }
    if (type !== headers && type !== continuation) return undefined;
    if (block !== undefined && block.stream !== stream) {
      return violation("protocol", "CONTINUATION of another stream");
    }
    const size = (block?.size ?? 0) + length;
    const continuations = block === undefined ? 0 : block.continuations + 1;
    if (size > this.#limits.headerBlock || continuations > this.#limits.continuations) {
      return violation("header_flood", `a header block of ${size} bytes in ${continuations} parts`);
    }
    this.#block = (flags & FrameFlag.endHeaders) !== 0
      ? undefined
      : { stream, size, continuations };
    return undefined;
  }

  #meaning(header: FrameHeader, now: number): Verdict {
    const ack = (header.flags & FrameFlag.ack) !== 0;
    switch (header.type) {
      case headers:
      case continuation:
      case windowUpdate:
        return "pass";
      case data: {
        const empty = header.length === 0 && (header.flags & FrameFlag.endStream) === 0;
        return empty ? this.#idling(now, "pass") : "pass";
      }
      case rstStream:
        return this.#resets.spend(now) ? "pass" : violation("reset_flood", "too many resets");
      case priority:
        return this.#idling(now, "pass");
      case settings:
        if (ack) return this.#answers("settings") ? "pass" : this.#idling(now, "drop");
        return this.#settings.spend(now)
          ? "pass"
          : violation("settings_flood", "too many SETTINGS");
      case ping:
        if (ack) return this.#answers("pings") ? "pass" : this.#idling(now, "drop");
        return this.#pings.spend(now) ? "pass" : violation("ping_flood", "too many PINGs");
      case goaway:
        return this.#side === "client" ? "goaway" : this.#idling(now, "drop");
      case pushPromise:
        return violation("push_promise", "PUSH_PROMISE");
      default:
        return this.#idling(now, "drop"); // unknown types are to be ignored (section 5.5)
    }
  }

  /** Whether an ACK was asked for. One that was not crashes the runtime's HTTP/2. */
  #answers(kind: "pings" | "settings"): boolean {
    if (this.#unanswered[kind] === 0) return false;
    this.#unanswered[kind]--;
    return true;
  }

  #idling(now: number, verdict: "pass" | "drop"): Verdict {
    return this.#idle.spend(now) ? verdict : violation("idle_flood", "too many idle frames");
  }
}

/** A violation. */
export function violation(reason: ViolationReason, detail: string): Violation {
  return { reason, detail };
}
