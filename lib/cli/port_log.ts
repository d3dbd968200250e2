/**
 * What the log says of the ports that this process has open.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { PortObserver } from "./listeners.ts";

/** What the log says of ports; `use` is the setting that names them. */
export function logPorts(log: Log, use: "listen" | "receive"): PortObserver {
  const tls = log.logger("tls");
  const troubled = new Set<string>();
  return {
    tlsProblem: (address, problem) => {
      const port = `${use} ${address}`;
      if (problem === undefined) {
        if (troubled.delete(address)) {
          tls.info("the TLS files are as they should be again", { use: port });
        }
        return;
      }
      troubled.add(address);
      const { severity, message, hint } = problem;
      tls[severity === "error" ? "error" : "warn"](message, { use: port, hint });
    },
    rotated: (address, { subject, notAfter }) => {
      const until = new Date(notAfter);
      tls.info("new TLS files are in use", { use: `${use} ${address}`, subject, notAfter: until });
    },
  };
}
