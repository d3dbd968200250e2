import { smoke } from "./smoke.ts";
import { sourceLaunch } from "./running.ts";

Deno.test("smoke: the source, with the permissions of its task", async () => {
  await smoke(await sourceLaunch());
});
