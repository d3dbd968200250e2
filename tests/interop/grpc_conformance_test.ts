/**
 * gRPC as its conformance suite sees it, with two clients of its own: against our listener, gate and
 * server with grpc-js's handlers, and against the streams that pushes travel on and every service is made of.
 */
import { assert, assertEquals } from "@std/assert";
import { binary, interopTest } from "./lib/binaries.ts";

const FOLDER = new URL("conformance/", import.meta.url).pathname;
const PEERS = ["connectconformance"];

interopTest(
  "grpc conformance: the suite passes but for what is argued in conformance/known_failing_grpc.txt",
  PEERS,
  async () => {
    const { code, output } = await runSuite("grpc", [
      ...["--conf", `${FOLDER}config.yaml`, "--known-failing", `@${FOLDER}known_failing_grpc.txt`],
    ]);
    assertEquals(code, 0, output);
    assert(passed(output) >= 368, output.slice(-500));
  },
);

interopTest(
  "grpc conformance: push streams carry messages and a status as gRPC asks",
  PEERS,
  async () => {
    const { code, output } = await runSuite("push", [
      ...["--conf", `${FOLDER}push_config.yaml`, "--test-file", `${FOLDER}push_suite.yaml`],
    ]);
    assertEquals(code, 0, output);
    assertEquals(passed(output), 48, output.slice(-500));
  },
);

async function runSuite(service: string, options: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(binary("connectconformance"), {
    args: [
      ...[...options, "--mode", "server", "--"],
      ...[Deno.execPath(), "run", "--allow-all", `${FOLDER}server.ts`, service],
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, output: decode(stderr) + decode(stdout) };
}

/** Number of cases that passed, by the suite's last words. */
function passed(output: string): number {
  return Number(/(\d+) passed, \d+ failed/.exec(output)?.[1] ?? 0);
}
