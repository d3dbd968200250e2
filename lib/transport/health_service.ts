/**
 * `grpc.health.v1.Health`: what load balancers, Kubernetes and probes ask.
 *
 * @module
 */
import {
  healthCheckRequestCodec,
  healthCheckResponseCodec,
  healthListResponseCodec,
  type ServingStatus,
} from "../wire/side_messages.ts";
import { answer } from "./one_request.ts";
import type { PushStream } from "./push_stream.ts";
import type { PushServer } from "./server.ts";
import type { ServingState } from "./serving_state.ts";
import { readRequest, serviceNames } from "./side_request.ts";

const SERVICE = "/grpc.health.v1.Health";

/** The largest request: it holds a name. Bytes. */
const LARGEST = 10_000;

/** What is asked for where the server as a whole is meant. */
const WHOLE = "";

/**
 * Adds gRPC health to a server, for the server as a whole (an empty name) and for each service on it
 * by its name. Checks are answered while the server drains.
 */
export function addHealth(server: PushServer, state: ServingState): void {
  const statusOf = (service: string): ServingStatus => {
    const known = service === WHOLE || serviceNames(server).includes(service);
    if (!known) return "SERVICE_UNKNOWN";
    return state.serving ? "SERVING" : "NOT_SERVING";
  };
  server.addCall(`${SERVICE}/Check`, (stream, bytes) => {
    const request = readRequest(bytes, healthCheckRequestCodec);
    if ("refused" in request) return stream.end(request.refused);
    check(stream, request.read.service, statusOf(request.read.service));
  }, { whileDraining: true, largest: LARGEST });
  server.addCall(`${SERVICE}/List`, (stream) => {
    const names = [WHOLE, ...serviceNames(server)];
    const statuses = Object.fromEntries(names.map((name) => [name, { status: statusOf(name) }]));
    answer(stream, healthListResponseCodec.encode({ statuses }));
  }, { whileDraining: true, largest: LARGEST });
  server.addCall(`${SERVICE}/Watch`, (stream, bytes) => {
    const request = readRequest(bytes, healthCheckRequestCodec);
    if ("refused" in request) return stream.end(request.refused);
    watch(stream, state, () => statusOf(request.read.service));
  }, { largest: LARGEST });
}

function check(stream: PushStream, service: string, status: ServingStatus): void {
  if (status !== "SERVICE_UNKNOWN") {
    return answer(stream, healthCheckResponseCodec.encode({ status }));
  }
  const shown = service.slice(0, 200);
  stream.end({
    code: "NOT_FOUND",
    message: `no service is named ${shown} here; Health/List names those that are`,
  });
}

/** Sends the status now and whenever it is another; of changes while one is being written, the last. */
function watch(stream: PushStream, state: ServingState, statusOf: () => ServingStatus): void {
  let sent: ServingStatus | undefined;
  let writing = false;
  const send = async () => {
    if (writing) return;
    writing = true;
    while (!stream.signal.aborted && sent !== statusOf()) {
      sent = statusOf();
      const bytes = healthCheckResponseCodec.encode({ status: sent });
      await stream.write({ pieces: [bytes], length: bytes.length }).catch(() => {}); // it is over
    }
    writing = false;
  };
  const watching = state.watch(() => void send());
  stream.signal.addEventListener("abort", () => watching[Symbol.dispose](), { once: true });
  void send();
}
