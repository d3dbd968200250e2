import type { LogRecord } from "./record.ts";

/** One JSON object a record: level, datetime (milliseconds), message, args (a single one as it is). */
export function jsonFormatter(logRecord: LogRecord): string {
  const { args } = logRecord;
  return JSON.stringify({
    level: logRecord.levelName,
    datetime: logRecord.datetime.getTime(),
    message: logRecord.msg,
    args: args.length === 0 ? undefined : args.length === 1 ? args[0] : args,
  });
}

/** Every formatter there is. */
export const formatters: { readonly jsonFormatter: typeof jsonFormatter } = {
  jsonFormatter,
};
