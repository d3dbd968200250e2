/**
 * `pinnace snapshots`: what a running Pinnace has stored and holds back.
 *
 * @module
 */
import { AdminError, type AdminOptions, askAdmin } from "./admin_client.ts";
import { EXIT } from "./exit.ts";
import { print } from "./read_config.ts";
import { visible } from "./terminal.ts";

/** What `/api/v1/snapshots` lists. */
interface Listed {
  readonly id: string;
  readonly savedAt: string;
  readonly resources: number;
  readonly published: boolean;
}

/** What waits to be confirmed. */
interface Held {
  readonly id: string;
  readonly message: string;
}

/** Prints the stored snapshots, newest first. */
export function listSnapshots(options: AdminOptions): Promise<number> {
  return asking(async () => {
    const answer = await askAdmin(options, "/api/v1/snapshots") as {
      snapshots: readonly Listed[];
      held?: Held;
      heldSources?: readonly (Held & { readonly source: string })[];
    };
    const { snapshots, held, heldSources = [] } = answer;
    for (const { id, savedAt, resources, published } of snapshots) {
      const mark = published ? "  published" : "";
      await print(`${id}  ${savedAt}  ${resources} resources${mark}\n`, Deno.stdout);
    }
    if (held !== undefined) {
      await print(`${held.id}  held back: ${visible(held.message)}\n`, Deno.stdout);
    }
    for (const { id, source, message } of heldSources) {
      const line = visible(`${id}  held back, of ${source}: ${message}`);
      await print(`${line}\n`, Deno.stdout);
    }
  });
}

/** Has the snapshot that the guard holds back published. */
export function confirmSnapshot(options: AdminOptions & { readonly id: string }): Promise<number> {
  return asking(async () => {
    await askAdmin(options, `/api/v1/snapshots/${encodeURIComponent(options.id)}/confirm`, {
      method: "POST",
    });
    await print(`${options.id} is confirmed and will be published\n`, Deno.stdout);
  });
}

async function asking(ask: () => Promise<void>): Promise<number> {
  try {
    await ask();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const lines = error.message.split("\n").map(visible);
    await print(`error: ${lines.join("\n")}\n`, Deno.stderr);
    return EXIT.failure;
  }
}
