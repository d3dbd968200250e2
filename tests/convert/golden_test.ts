/**
 * Services as people write them, and the ServiceEntries that they come to. A case is a folder of
 * tests/testdata/convert with `in.yaml`; `out.yaml` holds the resources as `pinnace render` prints
 * them, `findings.txt` what there is to say, by service. UPDATE_GOLDEN=1 writes both anew.
 */
import { assert, assertEquals } from "@std/assert";
import { dump, load } from "js-yaml";
import { check } from "../../lib/config/check.ts";
import { normaliseService } from "../../lib/config/normalise.ts";
import { serviceSchema } from "../../lib/config/schema_service.ts";
import { convertService } from "../../lib/convert/convert.ts";
import { renderResource } from "../../lib/convert/render.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import type { Service } from "../../lib/model/service.ts";
import type { DefaultSettings } from "../../lib/model/settings.ts";

const CASES = new URL("../testdata/convert/", import.meta.url);
const UPDATE = Deno.env.get("UPDATE_GOLDEN") === "1";
const DEFAULTS: DefaultSettings = {
  namespace: "default",
  domain: "svc.cluster.local",
  exportTo: ["*"],
};

const cases = [...Deno.readDirSync(CASES)].filter((entry) => entry.isDirectory).map((e) => e.name);

Deno.test("convert: there are golden cases", () => assert(cases.length >= 15, `${cases.length}`));

for (const name of cases.sort()) {
  Deno.test(`convert: golden case ${name}`, () => {
    const folder = new URL(`${name}/`, CASES);
    const services = readServices(new URL("in.yaml", folder));
    const conversions = services.map(convertService);
    const documents = conversions.flatMap(({ resources }) =>
      resources.map(({ resource }) =>
        `# version ${resource.version}\n${dump(renderResource(resource), { lineWidth: -1 })}`
      )
    );
    compare(new URL("out.yaml", folder), documents.join("---\n"));
    const findings = conversions.flatMap((conversion) =>
      conversion.findings.map((finding) =>
        `${finding.path!.join(".") || "."}: ${formatFinding(finding)}\n`
      )
    );
    compare(new URL("findings.txt", folder), findings.join(""));
  });
}

function readServices(url: URL): Service[] {
  const { defaults, services } = load(Deno.readTextFileSync(url)) as {
    defaults?: Partial<DefaultSettings>;
    services: unknown[];
  };
  return services.map((raw) => {
    const checked = check(serviceSchema, raw);
    assert(checked.ok, `${url.pathname} is no configuration: ${JSON.stringify(checked)}`);
    return normaliseService(checked.value, { ...DEFAULTS, ...defaults }).service;
  });
}

/** An empty text is a file that is not there. */
function compare(url: URL, actual: string): void {
  const expected = read(url);
  if (!UPDATE) return assertEquals(actual, expected, url.pathname);
  if (actual !== "") Deno.writeTextFileSync(url, actual);
  else if (expected !== "") Deno.removeSync(url);
}

function read(url: URL): string {
  try {
    return Deno.readTextFileSync(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
