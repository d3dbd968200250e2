/**
 * The sink of MCP that the probe is.
 *
 * @module
 */
import { McpSinkMachine } from "../protocol/mcp_sink.ts";
import { RESOURCE_SOURCE_PATH } from "../transport/method_paths.ts";
import { requestResourcesCodec, resourcesCodec } from "../wire/messages.ts";
import type { ProbeClient } from "./probe_client.ts";
import { ProbeLedger } from "./probe_ledger.ts";
import type { ProbeOptions } from "./probe_options.ts";
import { boundOf, ofMcp } from "./probe_push.ts";

/** The sink's side of an MCP stream. */
export function mcpClient({ node, types, incremental }: ProbeOptions): ProbeClient {
  const collections = types.map(({ typeUrl }) => typeUrl);
  const ledger = new ProbeLedger(types);
  const machine = new McpSinkMachine({
    nodeId: node.id ?? "",
    collections,
    incremental,
    initial: () => ({}),
  });
  return {
    path: RESOURCE_SOURCE_PATH,
    next() {
      const request = machine.next();
      return request && requestResourcesCodec.encode(request);
    },
    receive(bytes) {
      const message = resourcesCodec.decode(bytes, boundOf(bytes));
      const { collection: type, nonce, systemVersionInfo: version, incremental } = message;
      const received = machine.receive({ type, nonce, version, incremental }, Date.now());
      switch (received.kind) {
        case "error":
          return { kind: "wrong", message: received.message };
        case "difference":
          return { kind: "wrong", message: `${type}: ${received.message}` };
        case "trigger":
          return { kind: "other", message: "the server asks us to speak first" };
        case "unasked":
          return { kind: "other", message: `${type} was sent and not asked for` };
        case "push": {
          const resources = message.resources.map(ofMcp);
          const removed = message.removedResources;
          return { kind: "push", push: { type, version, nonce, incremental, resources, removed } };
        }
      }
    },
    settle(push, error) {
      machine.settle(push.type, push.nonce, error);
      ledger.take(push, error !== undefined);
    },
    standing: () => ledger.standing(),
  };
}
