/**
 * What the log says of the ports that this process has open.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { Exposure, PortObserver } from "./listeners.ts";

/** Both are warned of at each start, so that nobody forgets them. */
const EXPOSED: Readonly<Record<Exposure, string>> = {
  plaintext:
    "plaintext off loopback, as `insecure: true` has it: it can be read and changed on its way",
  unproven: "no source need prove who it is, as `insecure: true` has it: each is believed its name",
};

/** What the log says of ports; `use` is the setting that names them. */
export function logPorts(log: Log, use: "listen" | "receive"): PortObserver {
  const tls = log.logger("tls");
  const logger = log.logger("listener");
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
    exposed: (address, exposure) => logger.warn(EXPOSED[exposure], { [use]: address }),
    dead: (address) =>
      logger.error("the port takes no connections; it is opened anew until it does", {
        [use]: address,
      }),
    revived: (address) => logger.info("the port takes connections again", { [use]: address }),
    waits: (address, reason) =>
      logger.error("the port is not open; it is opened as soon as that is mended", {
        [use]: address,
        reason,
      }),
    opened: (address) => logger.info("the port is open now", { [use]: address }),
  };
}
