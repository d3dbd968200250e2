import { assertEquals } from "@std/assert";
import { makeSeed } from "../../lib/config/seed.ts";
import { ConfigReader } from "../../lib/config/load.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

Deno.test("causes: a first load is compared with what was published before", () => {
  using folder = new TempFolder();
  folder.write("c.yaml", `include: [more/]\n${services("main")}`);
  for (const name of ["a", "b", "c"]) folder.write(`more/${name}.yaml`, services(name));
  const reader = () =>
    new ConfigReader(folder.at("c.yaml"), { converter: PLAIN_CONVERTER, hostName: "test" });
  const first = reader();
  const { settings } = first.load();
  const records = first.services.map(({ record }) => record);
  folder.write("more/a.yaml", services("a", "d"));
  folder.remove("more/b.yaml");
  folder.write("more/e.yaml", services("e"));
  const second = reader();
  second.seed(makeSeed(records, settings!));
  assertEquals(second.load().causes, [
    { kind: "file", name: "more/a.yaml", what: "changed" },
    { kind: "file", name: "more/e.yaml", what: "added" },
    { kind: "file", name: "more/b.yaml", what: "removed" },
  ]);
  assertEquals(second.load().causes, []);
});

const services = (...names: string[]) =>
  `services:\n${
    names.map((n) => `  - { name: ${n}, ports: [80], endpoints: [10.0.0.1] }\n`).join("")
  }`;

Deno.test("causes: each load says which files changed what is in effect", () => {
  using folder = new TempFolder();
  folder.write("c.yaml", `include: [more/]\n${services("main")}`);
  folder.write("more/a.yaml", services("a"));
  const config = folder.at("c.yaml");
  const reader = new ConfigReader(config, { converter: PLAIN_CONVERTER, hostName: "test" });
  const causes = () => reader.load().causes;

  assertEquals(causes(), [], "of a first load, nothing is known");
  assertEquals(causes(), []);
  folder.write("more/a.yaml", services("a", "b"));
  folder.write("more/new.yaml", services("new"));
  assertEquals(causes(), [
    { kind: "file", name: "more/a.yaml", what: "changed" },
    { kind: "file", name: "more/new.yaml", what: "added" },
  ]);
  folder.write("more/a.yaml", "services: [");
  assertEquals(causes(), [], "a broken file changes nothing");
  folder.remove("more/new.yaml");
  assertEquals(causes(), [{ kind: "file", name: "more/new.yaml", what: "removed" }]);
  folder.write("c.yaml", `include: [more/]\nlog: { level: debug }\n${services("main")}`);
  assertEquals(causes(), [
    { kind: "file", name: "c.yaml", what: "changed" },
    { kind: "settings" },
  ]);
});
