/** A worker that loads configurations, with the real conversion. */
import { startWorker } from "../../../lib/config/worker.ts";
import { conflicts } from "../../../lib/convert/conflicts.ts";
import { convertService } from "../../../lib/convert/convert.ts";
import { checkTogether } from "../../../lib/convert/together.ts";

startWorker(self as never, { converter: { convertService, checkTogether, conflicts } });
