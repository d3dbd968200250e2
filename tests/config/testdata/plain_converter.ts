/**
 * A conversion without rules, for tests of everything around it: the "resource" is the service's JSON,
 * two services of one name are in conflict, and labels say what else is to be found.
 *
 * @module
 */
import type { Converter } from "../../../lib/config/converter.ts";
import { conflicts } from "../../../lib/convert/conflicts.ts";
import type { Finding } from "../../../lib/model/finding.ts";
import { contentHash } from "../../../lib/wire/hash.ts";

/** `error` and `warning` as labels make such a finding of the service. */
export const PLAIN_CONVERTER: Converter = {
  convertService: (service) => {
    const name = `${service.namespace}/${service.name}`;
    const findings = (["error", "warning"] as const).flatMap((severity): Finding[] => {
      const message = service.labels[severity];
      if (message === undefined) return [];
      return [{ severity, rule: "test/label", message, subject: name, path: ["labels", severity] }];
    });
    if (service.labels.error !== undefined) return { resources: [], findings };
    const json = JSON.stringify(service);
    const bytes = new TextEncoder().encode(json);
    const resource = { name, version: contentHash([json]), bytes };
    return { resources: [{ kind: "ServiceEntry", resource }], findings };
  },
  conflicts,
  checkTogether: () => [],
};
