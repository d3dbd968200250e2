/**
 * A process that runs out of files: a port in it, which says on standard output what happens. Run by
 * a test.
 *
 * @module
 */
import { ConnectionRoom } from "../../lib/transport/connection_room.ts";
import { listen } from "../../lib/transport/listener.ts";

// As the program does at its start: the runtime takes files for signals when it first needs them, and
// panics where there are none left.
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));

const say = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
const listener = await listen(
  { host: "127.0.0.1", port: 0 },
  { inject: (gate) => gate.destroy() },
  {
    now: () => performance.now(),
    prefaceDeadline: 600_000,
    ...(Deno.args[0] === "uncapped" ? { room: new ConnectionRoom(Infinity) } : {}),
    watchEvery: 100,
    hooks: {
      dead: () => say("dead"),
      revived: () => say("revived"),
      refused: (reason) => say(`refused ${reason}`),
    },
  },
);
say(`port ${listener.address.port}`);
