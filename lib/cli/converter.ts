/**
 * Conversion as the loader wants it: the two parts know nothing of each other.
 *
 * @module
 */
import type { Converter } from "../config/converter.ts";
import { conflicts } from "../convert/conflicts.ts";
import { convertService } from "../convert/convert.ts";
import { checkTogether } from "../convert/together.ts";

/** Turns services into Istio's objects, by its rules and ours. */
export const serviceEntryConverter: Converter = { convertService, conflicts, checkTogether };
